package backend

import "flag"

// For the simulator (quorumtest/sim): go test ./quorum/... -run Sim -seed N gives it to every package.
var _ = flag.Uint64("seed", 0, "for the simulator, see quorumtest/sim")

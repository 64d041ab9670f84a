import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs rows, and prints each as a line of JSON. Nothing else goes to stdout. */
final class Suite {
  static final String HOST = System.getenv().getOrDefault("REDLOCKD_HOST", "127.0.0.1");
  static final int PORT = Integer.parseInt(System.getenv().getOrDefault("REDLOCKD_PORT", "6380"));

  private static final int AT_ONCE = 3; // most of their time they wait

  private final PrintStream out = System.out;
  private final ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE, Checks::daemon);
  private final List<Future<String>> rows = new ArrayList<>();
  private final RedisCommands<String, String> probe;

  Suite() {
    System.setOut(System.err);
    probe = Clients.connect(ProtocolVersion.RESP2);
  }

  void row(String library, String artifact, String how, Callable<Lock> make) {
    row(library, artifact, how, "", make);
  }

  void row(String library, String artifact, String how, String note, Callable<Lock> make) {
    rows.add(pool.submit(() -> {
      Map<String, String> checks;
      try {
        checks = new Checks(make.call(), make.call(), probe::pttl).all();
      } catch (Throwable e) { // it could not even connect
        checks = Checks.none(Checks.reason(e));
      }
      return line(library, artifact, how, checks, note);
    }));
  }

  void refused(String library, String artifact, String how, String note, Callable<?> attempt) {
    rows.add(pool.submit(() ->
        line(library, artifact, how, Map.of("refused", Checks.refusal(attempt)), note)));
  }

  /**
   * Prints the rows in their order, so that the table in README.md does not change with every run, and ends the process: some
   * libraries leave threads behind.
   */
  void end() throws Exception {
    for (Future<String> row : rows) {
      out.println(row.get());
    }
    System.exit(0);
  }

  private static String line(String library, String artifact, String how, Map<String, String> checks, String note) {
    List<String> pairs = new ArrayList<>();
    checks.forEach((name, result) -> pairs.add(quote(name) + ":" + quote(result)));
    return "{\"language\":\"Java\",\"library\":" + quote(library) + ",\"version\":" + quote(version(artifact))
        + ",\"how\":" + quote(how) + ",\"checks\":{" + String.join(",", pairs) + "},\"note\":" + quote(note) + "}";
  }

  /** The version that is on the class path, not the one that was asked for. */
  static String version(String artifact) {
    Pattern jar = Pattern.compile(Pattern.quote(artifact) + "-(\\d.*?)(\\.RELEASE)?\\.jar");
    for (String entry : System.getProperty("java.class.path").split(":")) {
      Matcher m = jar.matcher(Path.of(entry).getFileName().toString());
      if (m.matches()) {
        return m.group(1);
      }
    }
    throw new IllegalStateException(artifact + " is not on the class path");
  }

  private static String quote(String text) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        b.append('\\').append(c);
      } else {
        b.append(c < ' ' ? ' ' : c);
      }
    }
    return b.append('"').toString();
  }
}

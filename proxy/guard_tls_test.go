package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func selfSigned(tb testing.TB) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	subject := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, subject, subject, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// Half a command over TLS, then a drain: the deadline that wakes a Read must not spoil the session.
func TestTLS(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, tls.NewListener(tcp, selfSigned(t)), Limits{}, nil)
	c, err := tls.Dial("tcp", tcp.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	send(t, c, "PING\r\nPI")
	expect(t, c, "+PONG\r\n")
	s.guard.drain()
	send(t, c, "NG\r\n")
	expect(t, c, "+PONG\r\n")
	expectEnd(t, c)
	<-s.guard.drained()
}

func TestTLSHandshakeHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		s := serveOn(t, tls.NewListener(ln, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return nil, errors.New("no certificate in this test")
		}}), Limits{Command: 5 * time.Second}, nil)
		silent := ln.dial(t)
		start := time.Now()
		expectEnd(t, silent)
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("closed after %v", got)
		}
		if err := <-s.closed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("closed with %v", err)
		}
	})
}

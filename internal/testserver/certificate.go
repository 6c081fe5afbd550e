package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// File writes a file that is removed after the test.
func File(tb TB, name string, content []byte) (path string) {
	tb.Helper()
	path = filepath.Join(Dir(tb), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatalf("write a file: %v", err)
	}
	return path
}

// Certificate writes a certificate for the loopback address and its key, signed by itself, for servers and clients.
func Certificate(tb TB) (cert, key string) {
	tb.Helper()
	certText, keyText, err := certificate()
	if err != nil {
		tb.Fatalf("make a certificate: %v", err)
	}
	return File(tb, "cert.pem", certText), File(tb, "key.pem", keyText)
}

func certificate() (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), nil
}

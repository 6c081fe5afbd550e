package sidecar

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// LoadTLS reads a certificate with its key and, if there is a file of authorities, demands that clients have a
// certificate of one of them. It returns nil if no file is named.
func LoadTLS(certificate, key, clientAuthorities string) (*tls.Config, error) {
	switch {
	case certificate == "" && key == "" && clientAuthorities == "":
		return nil, nil
	case certificate == "" || key == "":
		return nil, errors.New("TLS needs both a certificate and its key")
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate and its key: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clientAuthorities == "" {
		return config, nil
	}
	text, err := os.ReadFile(clientAuthorities)
	if err != nil {
		return nil, fmt.Errorf("reading the authorities of clients: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("there is no certificate in %s", clientAuthorities)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// mutual reports whether clients have to show a certificate.
func mutual(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert
}

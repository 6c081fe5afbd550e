package storeurl

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// TLSParameters are those that [TLS] reads: certificates of the authorities to trust, the client's own certificate and
// key, and the name that the server's certificate has to be for.
var TLSParameters = []string{"ca_file", "cert_file", "key_file", "server_name"}

// TLS returns the configuration that parameters ask for. Without any it trusts the system's authorities.
func TLS(parameters map[string]string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: parameters["server_name"]}
	if path, ok := parameters["ca_file"]; ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_file %s holds no certificate in PEM form", path)
		}
	}
	return c, setCertificate(c, parameters["cert_file"], parameters["key_file"])
}

func setCertificate(c *tls.Config, cert, key string) error {
	if (cert == "") != (key == "") {
		return errors.New("cert_file and key_file belong together: want both or none")
	}
	if cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("cert_file and key_file: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}

// ReadPassword returns the whole content of a file but for the line break at its end.
func ReadPassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimRight(string(text), "\r\n"), err
}

package redis

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
)

// password reads a password from the file that a parameter names, and returns none without the parameter.
func (p parameters) password(name string) (string, error) {
	path, ok := p[name]
	if !ok {
		return "", nil
	}
	password, err := readPassword(path)
	if err != nil {
		return "", refused("%s: %w", name, err)
	}
	return password, nil
}

// readPassword takes the whole file but for the line break at its end.
func readPassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimRight(string(text), "\r\n"), err
}

// tls returns the configuration of TLS, nil without it.
func (p parameters) tls(secure bool) (*tls.Config, error) {
	if !secure {
		for _, name := range []string{"ca_file", "cert_file", "key_file", "server_name"} {
			if _, ok := p[name]; ok {
				return nil, refused("%s is for TLS alone: want rediss:// or the like", name)
			}
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: p["server_name"]}
	if path, ok := p["ca_file"]; ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, refused("ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, refused("ca_file %s holds no certificate in PEM form", path)
		}
	}
	return c, p.setCertificate(c)
}

func (p parameters) setCertificate(c *tls.Config) error {
	cert, key := p["cert_file"], p["key_file"]
	if (cert == "") != (key == "") {
		return refused("cert_file and key_file belong together: want both or none")
	}
	if cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return refused("cert_file and key_file: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}

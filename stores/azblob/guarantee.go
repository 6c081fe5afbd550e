package azblob

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure"
)

// services are the domains of Azure's blob services, in its various clouds.
var services = []string{
	".blob.core.windows.net", ".blob.core.usgovcloudapi.net", ".blob.core.chinacloudapi.cn", ".blob.storage.azure.net",
}

// Guarantee implements [tenure.Guarantor]: exclusive on Azure. Of another server, such as an emulator, the store can
// only tell that it honours conditions, not what it does before it acknowledges a write: the grade is unknown.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.objects.Check(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("azblob: guarantee: %w", err)
	}
	return s.guarantee(), nil
}

// guarantee is that of a service which honours conditions.
func (s *Store) guarantee() tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	if host := hostOf(s.container.client.URL()); !isService(host) {
		g.Grade = tenure.GradeUnknown
		g.Reasons = append(g.Reasons, host+" is not known to be Azure's: whether it has synced and replicated a write "+
			"before it acknowledges it is for its documentation to say")
	}
	g.Reasons = append(g.Reasons,
		"the service was tried: it refuses a write whose If-Match or If-None-Match does not hold",
		"a geo-redundant account that fails over to its second region loses what was not copied yet: the grade is then "+
			"exclusive until fail-over")
	return g
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func isService(host string) bool {
	for _, domain := range services {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

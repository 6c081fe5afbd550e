package azblob

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
)

// Open returns the store at a URL, with a client of its own, once the service has shown that it honours conditions:
//
//	azblob://ACCOUNT/CONTAINER[/PREFIX][?create=true][&endpoint=URL][&sas=TOKEN][&lease-blob=NAME]
//
// Credentials are the first of these that is there: sas in the URL, a shared access signature; the environment
// variables AZURE_STORAGE_CONNECTION_STRING (whose account has to be ACCOUNT, and whose endpoint is used),
// AZURE_STORAGE_KEY (a shared key) and AZURE_STORAGE_SAS_TOKEN; the usual chain of the Azure SDK: environment, workload
// identity, managed identity, command-line tools. endpoint is the URL of the account's blob service, if it is not
// https://ACCOUNT.blob.core.windows.net. create and lease-blob stand for [WithCreate] and [WithBlobLease]. A prefix
// ends in a slash in the blobs' names, whether or not it does in the URL. Options override the URL.
//
// The error wraps [tenure.ErrConfig] if the URL has another form, and [tenure.ErrPermanent] if access is denied, the
// container is missing, or the service ignores conditions.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	at, err := parse(rawURL)
	if err == nil {
		options = append(at.options(), options...)
		_, err = newConfig(options)
	}
	if err != nil {
		return nil, fmt.Errorf("azblob: opening: %w", err)
	}
	s, err := at.open(options)
	if err == nil {
		if err = s.objects.Check(ctx); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("azblob: opening %s/%s: %w", at.account, at.container, err)
	}
	return s, nil
}

func (l location) open(options []Option) (*Store, error) {
	owned := &http.Client{Transport: transport()}
	client, err := l.client(azcore.ClientOptions{Transport: owned})
	if err != nil {
		return nil, err
	}
	s, err := New(client, options...)
	if err != nil {
		return nil, err
	}
	s.owned = owned
	return s, nil
}

// transport is like that of the SDK, which all clients of a process share, so that nobody can close what one store has
// left idle in it.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConnsPerHost:   10,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// client uses the first credentials that there are.
func (l location) client(with azcore.ClientOptions) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: with}
	at := l.url()
	connection, key, sas := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGE_KEY"), l.sas
	switch {
	case sas != "":
	case connection != "":
		return l.connect(connection, options)
	case key != "":
		shared, err := blob.NewSharedKeyCredential(l.account, key)
		if err != nil {
			return nil, fmt.Errorf("%w: AZURE_STORAGE_KEY is not in base64", tenure.ErrConfig)
		}
		return container.NewClientWithSharedKeyCredential(at, shared, options)
	default:
		sas = os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	}
	if sas != "" {
		return container.NewClientWithNoCredential(at+"?"+strings.TrimPrefix(sas, "?"), options)
	}
	chain, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: with})
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, chain, options)
}

// connect refuses a connection string of another account: two processes would each use their own.
func (l location) connect(connection string, options *container.ClientOptions) (*container.Client, error) {
	for field := range strings.SplitSeq(connection, ";") {
		if name, ok := strings.CutPrefix(field, "AccountName="); ok && name != l.account {
			return nil, fmt.Errorf("%w: AZURE_STORAGE_CONNECTION_STRING is for the account %q, the URL for %q",
				tenure.ErrConfig, name, l.account)
		}
	}
	client, err := container.NewClientFromConnectionString(connection, l.container, options)
	if err != nil {
		return nil, fmt.Errorf("%w: AZURE_STORAGE_CONNECTION_STRING has another form", tenure.ErrConfig)
	}
	return client, nil
}

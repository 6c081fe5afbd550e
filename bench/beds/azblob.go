package beds

import (
	"context"
	"fmt"
	"net/url"
	"os"

	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/azblob"
)

// AzureBlob is the emulator of Azure Blob Storage.
func AzureBlob() bench.Bed {
	return bench.Bed{Name: "azblob", About: "an emulator over a local directory", Start: startAzure, Open: openAzure}
}

func openAzure(ctx context.Context, address string) (bench.Store, error) {
	return azblob.Open(ctx, address)
}

type azureServer struct {
	*testserver.Azurite

	client *azure.Client
}

// bareContainer is that of the bare values.
const bareContainer = "bare"

func startAzure(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartAzurite(tb)
	// Stores take it from here, those of other processes too.
	if err := os.Setenv("AZURE_STORAGE_KEY", server.Key); err != nil {
		return nil, err
	}
	key, err := azure.NewSharedKeyCredential(server.Account, server.Key)
	if err != nil {
		return nil, err
	}
	client, err := azure.NewClientWithSharedKeyCredential(server.Endpoint(server.Addr), key, nil)
	if err != nil {
		return nil, err
	}
	_, err = client.CreateContainer(context.Background(), bareContainer, nil)
	return &azureServer{server, client}, err
}

func (a *azureServer) Version() string { return "Azurite, an emulator" }

func (a *azureServer) Address() string {
	query := url.Values{"endpoint": {a.Endpoint(a.Addr)}, "create": {"true"}}
	return fmt.Sprintf("azblob://%s/elections?%s", a.Account, query.Encode())
}

func (a *azureServer) Open(ctx context.Context) (bench.Store, error) {
	return openAzure(ctx, a.Address())
}

// Ping asks for something that is refused at once.
func (a *azureServer) Ping(ctx context.Context) error { return get(ctx, a.Endpoint(a.Addr)) }

func (a *azureServer) Write(ctx context.Context, value int) error {
	_, err := a.client.UploadBuffer(ctx, bareContainer, fmt.Sprint(value), bareValue, nil)
	return err
}

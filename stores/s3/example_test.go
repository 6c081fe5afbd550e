package s3_test

import (
	"context"
	"fmt"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/s3"
)

func Example() {
	ctx := context.Background()
	store, err := s3.Open(ctx, "s3://my-bucket/billing?region=eu-central-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	candidate, err := tenure.New(store, "nightly")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		fmt.Println("leading with token", term.Token)
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
}

// A client of the program's own, here one for a compatible server, stays the program's.
func ExampleNew() {
	loaded, err := awsconfig.LoadDefaultConfig(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	client := awss3.NewFromConfig(loaded, func(o *awss3.Options) {
		endpoint := "https://minio.example"
		o.BaseEndpoint, o.UsePathStyle = &endpoint, true
	})
	store, err := s3.New(client, "my-bucket", s3.WithPrefix("billing/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	_, err = tenure.New(store, "nightly") // and run it, as above
	fmt.Println(err)
}

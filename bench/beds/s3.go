package beds

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/s3"
)

// S3 is an S3 server over a local directory.
func S3() bench.Bed {
	return bench.Bed{Name: "s3", About: "objects in a local directory", Start: startS3, Open: openS3}
}

func openS3(ctx context.Context, address string) (bench.Store, error) { return s3.Open(ctx, address) }

type s3Server struct {
	*testserver.VersityGW

	client *awss3.Client
}

func startS3(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartVersityGW(tb)
	// Stores take them from here, those of other processes too.
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.SecretKey, "AWS_REGION": "us-east-1",
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	config, err := awsconfig.LoadDefaultConfig(context.Background())
	if err != nil {
		return nil, err
	}
	client := awss3.NewFromConfig(config, func(o *awss3.Options) {
		o.BaseEndpoint, o.UsePathStyle = aws.String(server.Endpoint()), true
	})
	return &s3Server{server, client}, nil
}

func (s *s3Server) Version() string { return "versitygw" }

func (s *s3Server) Address() string {
	query := url.Values{"endpoint": {s.Endpoint()}, "path-style": {"true"}, "region": {"us-east-1"}}
	return fmt.Sprintf("s3://%s/tenure?%s", s.Bucket, query.Encode())
}

func (s *s3Server) Open(ctx context.Context) (bench.Store, error) { return openS3(ctx, s.Address()) }

func (s *s3Server) Ping(ctx context.Context) error { return get(ctx, s.Endpoint()+"/health") }

func (s *s3Server) Write(ctx context.Context, value int) error {
	_, err := s.client.PutObject(ctx, &awss3.PutObjectInput{
		Bucket: &s.Bucket, Key: aws.String(fmt.Sprint("bare/", value)), Body: bytes.NewReader(bareValue),
	})
	return err
}

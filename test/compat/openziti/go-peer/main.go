// Go-peer is a host and a dialer on OpenZiti's Go SDK for the interoperability tests and benchmarks.
//
//	go-peer host IDENTITY_FILE SERVICE
//	go-peer dial IDENTITY_FILE SERVICE CONNECTIONS AT_ONCE BYTES
//	go-peer serve IDENTITY_FILE SERVICE[,SERVICE…] TERMINATORS
//	go-peer load IDENTITY_FILE SERVICE download|messages|circuits CONNECTIONS SECONDS
//
// A host sends back what it reads, prints "ready" and runs until it is killed. A dialer makes CONNECTIONS connections,
// AT_ONCE of them at a time. It sends BYTES random bytes over each, half-closes, and reads until the end. It prints one
// line of JSON. `load.go` has the other two, which are for benchmarks.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/openziti/sdk-golang/ziti"
	"github.com/openziti/sdk-golang/ziti/edge"
	"github.com/openziti/transport/v2"
	"github.com/openziti/transport/v2/wss"
)

// Result is what a dialer prints. Whole counts the connections whose bytes came back unchanged, followed by the end.
type Result struct {
	Connections  int      `json:"connections"`
	Whole        int      `json:"whole"`
	Milliseconds int64    `json:"ms"`
	Errors       []string `json:"errors"`
}

const maxErrors = 10

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "host" {
		return host(args[1], args[2])
	}
	if len(args) == 4 && args[0] == "serve" {
		numbers, err := numbersOf(args[3:])
		if err != nil {
			return err
		}
		return serve(args[1], args[2], numbers[0])
	}
	if len(args) == 6 && args[0] == "load" {
		numbers, err := numbersOf(args[4:])
		if err != nil {
			return err
		}
		return load(args[1], args[2], args[3], numbers[0], time.Duration(numbers[1])*time.Second)
	}
	if len(args) == 6 && args[0] == "dial" {
		numbers, err := numbersOf(args[3:])
		if err != nil {
			return err
		}
		return dial(args[1], args[2], numbers[0], numbers[1], numbers[2])
	}
	return errors.New("usage: go-peer host|dial|serve|load IDENTITY_FILE SERVICE …")
}

func numbersOf(texts []string) ([]int, error) {
	numbers := make([]int, len(texts))
	for at, text := range texts {
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		numbers[at] = number
	}
	return numbers, nil
}

func contextOf(identityFile string) (ziti.Context, error) {
	// The SDK itself adds it only for browsers.
	transport.AddAddressParser(wss.AddressParser{})
	config, err := ziti.NewConfigFromFile(identityFile)
	if err != nil {
		return nil, err
	}
	return ziti.NewContext(config)
}

func host(identityFile, service string) error {
	context, err := contextOf(identityFile)
	if err != nil {
		return err
	}
	listener, err := context.Listen(service)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return accept(listener, echo)
}

func accept(listener edge.Listener, answer func(edge.Conn)) error {
	for {
		connection, err := listener.AcceptEdge()
		if err != nil {
			return err
		}
		go answer(connection)
	}
}

func echo(connection edge.Conn) {
	if _, err := io.Copy(connection, connection); err == nil {
		_ = connection.CloseWrite()
	}
	_ = connection.Close()
}

func dial(identityFile, service string, connections, atOnce, bytes int) error {
	context, err := contextOf(identityFile)
	if err != nil {
		return err
	}
	started := time.Now()
	result := Result{Connections: connections, Errors: []string{}}
	var lock sync.Mutex
	var workers sync.WaitGroup
	turns := make(chan int64)
	for range atOnce {
		workers.Go(func() {
			for seed := range turns {
				err := exchange(context, service, seed, bytes)
				lock.Lock()
				if err == nil {
					result.Whole++
				} else if len(result.Errors) < maxErrors {
					result.Errors = append(result.Errors, err.Error())
				}
				lock.Unlock()
			}
		})
	}
	for turn := range connections {
		turns <- int64(turn)
	}
	close(turns)
	workers.Wait()
	result.Milliseconds = time.Since(started).Milliseconds()
	return json.NewEncoder(os.Stdout).Encode(result)
}

// exchange returns an error unless the bytes came back unchanged, and then the end of the stream.
func exchange(context ziti.Context, service string, seed int64, bytes int) error {
	connection, err := context.Dial(service)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	defer func() { _ = connection.Close() }()
	sent := sha256.New()
	written := make(chan error, 1)
	go func() {
		source := io.TeeReader(io.LimitReader(rand.New(rand.NewSource(seed)), int64(bytes)), sent)
		_, err := io.CopyBuffer(struct{ io.Writer }{connection}, source, make([]byte, 64*1024))
		if err == nil {
			err = connection.CloseWrite()
		}
		written <- err
	}()
	received := sha256.New()
	count, err := io.Copy(received, connection)
	if err != nil {
		return fmt.Errorf("read after %d bytes: %w", count, err)
	}
	if err := <-written; err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if count != int64(bytes) || string(sent.Sum(nil)) != string(received.Sum(nil)) {
		return fmt.Errorf("%d of %d bytes came back, or others", count, bytes)
	}
	return nil
}

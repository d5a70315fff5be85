package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openziti/sdk-golang/ziti"
	"github.com/openziti/sdk-golang/ziti/edge"
	"golang.org/x/sync/errgroup"
)

// LoadResult is what a load prints: bytes, messages or connections per second, latencies in microseconds.
type LoadResult struct {
	Rate   float64 `json:"rate"`
	P50Us  float64 `json:"p50Us"`
	P99Us  float64 `json:"p99Us"`
	Failed int64   `json:"failed"`
}

const (
	warmUp        = 500 * time.Millisecond
	bindsAtOnce   = 32
	bindTimeout   = 2 * time.Minute
	downloadBytes = 32 * 1024
	messageBytes  = 100
)

// serve hosts services with a number of terminators each; their names are separated by commas. The first byte of a connection
// asks for an endless download (D) or an echo (E).
func serve(identityFile, services string, terminators int) error {
	context, err := contextOf(identityFile)
	if err != nil {
		return err
	}
	names := strings.Split(services, ",")
	ended := make(chan error, len(names))
	for _, name := range names {
		listener, err := listen(context, name)
		if err != nil {
			return err
		}
		go func() { ended <- accept(listener, answer) }()
	}
	if err := addTerminators(context.(*ziti.ContextImpl), names, terminators-1); err != nil {
		return err
	}
	fmt.Println("ready")
	return <-ended
}

// listen returns when the listener has a terminator. The SDK's own option for that misses one in thousands, if it comes at
// once.
func listen(context ziti.Context, service string) (edge.Listener, error) {
	listener, err := context.Listen(service)
	if err != nil {
		return nil, err
	}
	state, isCounted := listener.(interface{ GetEstablishedCount() uint })
	if !isCounted {
		return nil, errors.New("the SDK does not count its terminators")
	}
	for started := time.Now(); state.GetEstablishedCount() == 0; time.Sleep(time.Millisecond) {
		if time.Since(started) > bindTimeout {
			return nil, errors.New("no terminator in time at " + service)
		}
	}
	return listener, nil
}

// addTerminators binds services at the router itself. Listeners of a context wake up every second, and ten thousand of them
// would take the CPU from what is measured. Nobody dials these terminators.
func addTerminators(context *ziti.ContextImpl, services []string, each int) error {
	router := context.GetRouterConnections()[0]
	var binds errgroup.Group
	binds.SetLimit(bindsAtOnce)
	for _, name := range services {
		service, _ := context.GetService(name)
		session, err := context.CtrlClt.CreateSession(*service.ID, ziti.SessionType(ziti.SessionBind))
		if err != nil {
			return err
		}
		for at := range each {
			binds.Go(func() error {
				options := edge.NewListenOptions()
				options.ListenerId = fmt.Sprintf("%s-%d", name, at)
				established := establishedOf(options)
				if _, err := router.Listen(service, session, options, nil); err != nil {
					return err
				}
				select {
				case <-established:
					return nil
				case <-time.After(bindTimeout):
					return errors.New("no terminator in time at " + name)
				}
			})
		}
	}
	return binds.Wait()
}

func answer(connection edge.Conn) {
	var kind [1]byte
	if _, err := io.ReadFull(connection, kind[:]); err != nil || kind[0] != 'D' {
		echo(connection)
		return
	}
	piece := make([]byte, downloadBytes)
	for {
		if _, err := connection.Write(piece); err != nil {
			_ = connection.Close()
			return
		}
	}
}

// loader has the counts of one measurement.
type loader struct {
	context     ziti.Context
	service     string
	isMeasuring atomic.Bool
	isOver      atomic.Bool
	count       atomic.Int64
	failed      atomic.Int64
	lock        sync.Mutex
	latencies   []time.Duration
	firstError  error
}

func load(identityFile, service, kind string, connections int, duration time.Duration) error {
	context, err := contextOf(identityFile)
	if err != nil {
		return err
	}
	l := &loader{context: context, service: service}
	work, isKnown := map[string]func() error{"download": l.download, "messages": l.messages, "circuits": l.circuit}[kind]
	if !isKnown {
		return errors.New("unknown kind of load: " + kind)
	}
	// The first connection logs in, and finds the router.
	if err := l.circuit(); err != nil {
		return err
	}
	for range connections {
		go l.repeat(work)
	}
	time.Sleep(warmUp)
	l.isMeasuring.Store(true)
	started := time.Now()
	time.Sleep(duration)
	l.isMeasuring.Store(false)
	elapsed := time.Since(started)
	l.isOver.Store(true)
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.firstError != nil {
		fmt.Fprintln(os.Stderr, l.firstError)
	}
	return json.NewEncoder(os.Stdout).Encode(LoadResult{
		Rate:   float64(l.count.Load()) / elapsed.Seconds(),
		P50Us:  l.percentile(0.5),
		P99Us:  l.percentile(0.99),
		Failed: l.failed.Load(),
	})
}

func (l *loader) repeat(work func() error) {
	for !l.isOver.Load() {
		if err := work(); err != nil && !l.isOver.Load() {
			l.failed.Add(1)
			l.lock.Lock()
			if l.firstError == nil {
				l.firstError = err
			}
			l.lock.Unlock()
		}
	}
}

// download reads one endless answer.
func (l *loader) download() error {
	connection, err := l.context.Dial(l.service)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if _, err := connection.Write([]byte("D")); err != nil {
		return err
	}
	piece := make([]byte, downloadBytes)
	for !l.isOver.Load() {
		count, err := connection.Read(piece)
		if err != nil {
			return err
		}
		if l.isMeasuring.Load() {
			l.count.Add(int64(count))
		}
	}
	return nil
}

// messages has one message under way at a time.
func (l *loader) messages() error {
	connection, err := l.context.Dial(l.service)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if _, err := connection.Write([]byte("E")); err != nil {
		return err
	}
	message := make([]byte, messageBytes)
	for !l.isOver.Load() {
		started := time.Now()
		if _, err := connection.Write(message); err != nil {
			return err
		}
		if _, err := io.ReadFull(connection, message); err != nil {
			return err
		}
		l.done(started)
	}
	return nil
}

// circuit is a new connection, and one byte there and back; its end is not part of its latency.
func (l *loader) circuit() error {
	started := time.Now()
	connection, err := l.context.Dial(l.service)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if _, err := connection.Write([]byte("Ex")); err != nil {
		return err
	}
	if _, err := io.ReadFull(connection, make([]byte, 1)); err != nil {
		return err
	}
	l.done(started)
	return nil
}

func (l *loader) done(started time.Time) {
	if !l.isMeasuring.Load() {
		return
	}
	l.count.Add(1)
	l.lock.Lock()
	l.latencies = append(l.latencies, time.Since(started))
	l.lock.Unlock()
}

func (l *loader) percentile(share float64) float64 {
	if len(l.latencies) == 0 {
		return 0
	}
	slices.Sort(l.latencies)
	at := min(len(l.latencies)-1, int(float64(len(l.latencies))*share))
	return float64(l.latencies[at].Nanoseconds()) / 1_000
}

//go:build newer_sdk

package main

import "github.com/openziti/sdk-golang/ziti/edge"

// establishedOf has an event once the router has a terminator of a listener with these options.
func establishedOf(options *edge.ListenOptions) <-chan struct{} {
	events := make(listenerEvents, 1)
	options.EventHandler = events
	return events
}

type listenerEvents chan struct{}

func (events listenerEvents) NotifyEstablished() {
	select {
	case events <- struct{}{}:
	default:
	}
}

func (events listenerEvents) NotifyStartOver() {}

func (events listenerEvents) NotifyNotRetriable() {}

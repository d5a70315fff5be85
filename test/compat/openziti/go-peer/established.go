//go:build !newer_sdk

package main

import "github.com/openziti/sdk-golang/ziti/edge"

// establishedOf has an event once the router has a terminator of a listener with these options.
func establishedOf(options *edge.ListenOptions) <-chan *edge.ListenerEvent {
	return options.GetEventChannel()
}

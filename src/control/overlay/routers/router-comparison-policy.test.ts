import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkState, TerminatorState } from '#wire/ctrl';
import {
  compareCircuits,
  compareConnections,
  compareLinks,
  compareTerminators,
  readConnections,
  readHeld,
  readLinks,
  readRouted,
  readTerminators,
} from './router-comparison-policy.ts';

const connection = { type: 'link.default', localAddress: 'tcp:1.1.1.1:1', remoteAddress: 'tcp:2.2.2.2:2' };
const known = (id: string, sourceId: string, destinationId: string) => ({
  id,
  sourceId,
  destinationId,
  connections: [connection],
});
const Connections = [{ Type: 'link.default', Source: 'tcp:1.1.1.1:1', Dest: 'tcp:2.2.2.2:2' }];

test('a link is valid if both ends of it and the controller agree', () => {
  const reported = readLinks({
    links: [
      { id: 'same', dest: 'b', dialed: true, connections: Connections },
      { id: 'other', dest: 'b', dialed: true, connections: [{ ...Connections[0], Dest: 'tcp:9.9.9.9:9' }] },
      // The end that was dialed sees the addresses the other way round.
      { id: 'dialed', dest: 'b', dialed: false, connections: null },
      { id: 'away', dest: 'gone', dialed: true, connections: [] },
      { id: 'new', dest: 'b', dialed: true, connections: [] },
    ],
  });
  const links = [
    known('same', 'a', 'b'),
    known('other', 'a', 'b'),
    known('dialed', 'b', 'a'),
    known('lost', 'b', 'a'),
  ];
  const details = compareLinks('a', reported!, links, (id) => id === 'b');
  assert.deepEqual(
    details.map(({ linkId, isValid = false, ctrlState, routerState }) => [
      linkId,
      isValid,
      ctrlState,
      routerState,
    ]),
    [
      ['same', true, LinkState.LinkEstablished, LinkState.LinkEstablished],
      ['other', false, LinkState.LinkEstablished, LinkState.LinkEstablished],
      ['dialed', true, LinkState.LinkEstablished, LinkState.LinkEstablished],
      // A link to a router that is not connected here is nothing that the controller could know.
      ['away', true, LinkState.LinkUnknown, LinkState.LinkEstablished],
      ['new', false, LinkState.LinkUnknown, LinkState.LinkEstablished],
      ['lost', false, LinkState.LinkEstablished, LinkState.LinkUnknown],
    ],
  );
  assert.deepEqual(details[1]?.messages, ['link other: the controller knows other connections']);
  assert.equal(details[5]?.destRouterId, 'b');
});

test('a terminator is valid if it is established at its router and known to the controller', () => {
  const reported = readTerminators({
    entries: [
      { id: 'good', state: 'established', createTime: 'then', lastAttempt: 'then' },
      { id: 'early', state: 'establishing', operationActive: true },
      { id: 'unknown', state: 'established' },
    ],
  });
  const details = compareTerminators(reported!, ['good', 'early', 'lost']);
  assert.deepEqual(
    details.map(({ terminatorId, isValid = false, ctrlState, routerState }) => [
      terminatorId,
      isValid,
      ctrlState,
      routerState,
    ]),
    [
      ['good', true, TerminatorState.Valid, 'established'],
      ['early', false, TerminatorState.Valid, 'establishing'],
      ['unknown', false, TerminatorState.Unknown, 'established'],
      ['lost', false, TerminatorState.Valid, 'unknown'],
    ],
  );
  assert.deepEqual(compareTerminators(readTerminators({ entries: null })!, []), []);
});

test('a circuit is missed where the controller, the forwarder, the edge part or the SDK does not have it', () => {
  const ctrlId = 'ctrl';
  const sdkEnd = { x: 'xg-edge-fwd', y: 'link' };
  const routed = readRouted({
    circuits: {
      whole: { ctrlId, destinations: sdkEnd },
      through: { ctrlId, destinations: { x: 'link', y: 'link' } },
      halved: { ctrlId, destinations: sdkEnd },
      orphan: { ctrlId, destinations: null },
      foreign: { ctrlId: 'another', destinations: sdkEnd },
    },
  });
  const edge = readHeld({
    circuits: { 'whole/1': { circuitId: 'whole', ctrlId }, 'ghost/1': { circuitId: 'ghost', ctrlId } },
  });
  const sdk = readHeld({
    circuits: {
      a: { circuitId: 'whole', ctrlId },
      b: { circuitId: 'dream', ctrlId },
      c: { circuitId: 'elsewhere', ctrlId: 'another' },
    },
  });
  const details = compareCircuits(ctrlId, ['whole', 'through', 'halved', 'gone'], routed!, edge, sdk);
  const missing = Object.fromEntries(
    Object.entries(details).map(([id, it]) => [
      id,
      (['Ctrl', 'Forwarder', 'Edge', 'Sdk'] as const)
        .filter((where) => it[`missingIn${where}`] === true)
        .join(),
    ]),
  );
  assert.deepEqual(missing, {
    whole: '',
    through: '',
    halved: 'Edge,Sdk',
    gone: 'Forwarder',
    orphan: 'Ctrl',
    ghost: 'Ctrl,Forwarder',
    dream: 'Ctrl,Forwarder,Edge',
  });
});

test('an identity is an error where router and controller differ, or the router has not reported all', () => {
  const open = { connections: [{ closed: false }] };
  const reported = readConnections({
    identity_connections: {
      both: open,
      router: open,
      closed: { connections: [{ closed: true }] },
      late: { ...open, unreported_count: 1, being_reported_count: 2, unreported_state_changed: true },
    },
  });
  assert.deepEqual(compareConnections(reported!, new Set(['both', 'closed', 'late', 'ctrl'])), [
    'router reports identity router connected, but controller disagrees',
    'router reports identity closed is not connected, but controller disagrees',
    'identity late has unreported events',
    'identity late has events still being reported',
    'identity late has unreported state change',
    'ctrl reports identity ctrl is connected, but router disagrees',
  ]);
});

test('what a router reports in another form is no value', () => {
  for (const value of [undefined, null, 1, 'links', [], { links: 1, entries: 1, circuits: 1 }]) {
    assert.equal(readRouted(value), undefined);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
    for (const read of [readLinks, readTerminators, readHeld, readConnections])
      assert.equal(read(value), undefined, JSON.stringify(value));
  }
});

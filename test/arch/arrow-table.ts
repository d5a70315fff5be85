/**
 * Which part may import which, and for each arrow that is forbidden: why. `base ← {wire, domain} ← contract ← net ←
 * sdk ← programs ← bin`. Every pair stands here, so that a new part cannot slip in without a decision.
 */

const UP = 'a lower layer does not depend on a higher one';
const APART = 'programs meet over protocols only, so that each can run and be replaced alone; bin wires them';
const WIRING = 'bin is the outermost ring: it wires, nobody calls it';
const BROWSER =
  'the console is a browser program: the control plane serves its files, and nothing else loads it';
const BROWSER_ALONE = 'a browser runs it: it has the API, types from the contract, and tables';
const CLI_ALONE = 'commands talk to running programs over their sockets and APIs, as any user can';

export interface PartRow {
  readonly may: readonly string[];
  readonly mayNot: Readonly<Record<string, string>>;
}

const PROGRAMS = ['control', 'gateway', 'router', 'agent', 'cli'] as const;

function program(name: (typeof PROGRAMS)[number]): PartRow {
  const others = PROGRAMS.filter((other) => other !== name);
  const why = (other: string): string => (name === 'cli' || other === 'cli' ? CLI_ALONE : APART);
  return {
    may: ['base', 'wire', 'domain', 'contract', 'net', 'sdk'],
    mayNot: {
      ...Object.fromEntries(others.map((other) => [other, why(other)])),
      bin: WIRING,
      console: BROWSER,
    },
  };
}

function layer(name: string, may: readonly string[], mayNot: Readonly<Record<string, string>>): PartRow {
  const higher = ['contract', 'net', 'sdk', ...PROGRAMS].filter(
    (part) => part !== name && !may.includes(part),
  );
  return {
    may,
    mayNot: {
      ...Object.fromEntries(higher.map((part) => [part, UP])),
      bin: WIRING,
      console: BROWSER,
      ...mayNot,
    },
  };
}

/** Rows for the parts under `src/` and for `bin`. */
export const ARROWS: Readonly<Record<string, PartRow>> = {
  base: layer('base', [], { wire: UP, domain: UP }),
  wire: layer('wire', ['base'], {
    domain: 'bytes on a connection do not depend on what the product does with them',
  }),
  domain: layer('domain', ['base'], {
    wire: 'rules about resources do not depend on the protocol that carries them',
  }),
  contract: layer('contract', ['base', 'wire', 'domain'], {}),
  net: layer('net', ['base', 'wire', 'domain', 'contract'], {}),
  sdk: layer('sdk', ['base', 'wire', 'domain', 'contract', 'net'], {}),
  control: program('control'),
  gateway: program('gateway'),
  router: program('router'),
  agent: program('agent'),
  cli: program('cli'),
  // Types only, and tables: `TYPES_ONLY`, `BUNDLED`.
  console: {
    may: ['contract', 'domain'],
    mayNot: Object.fromEntries(
      ['base', 'wire', 'net', 'sdk', ...PROGRAMS, 'bin'].map((part) => [part, BROWSER_ALONE]),
    ),
  },
  bin: {
    may: ['base', 'wire', 'domain', 'contract', 'net', 'sdk', ...PROGRAMS],
    mayNot: { console: BROWSER },
  },
};

/** Parts that import only types of others, and what `BUNDLED` names. */
export const TYPES_ONLY: readonly string[] = ['console'];

/** Doors to a file that imports nothing but types, so that a browser program may be bundled with it. */
export const BUNDLED: readonly string[] = ['#domain/backend-modes', '#contract/access-sentences'];

/** Folders outside the product: what they may reach, all through the parts' names. */
export const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  // Development commands: `bin/dev.ts` alone reaches tools. The reference pages name commands beside operations.
  tools: ['base', 'wire', 'domain', 'contract', 'router', 'cli', 'tools'],
  test: ['base', 'wire', 'domain', 'contract', 'net', 'sdk', ...PROGRAMS, 'bin', 'tools', 'test'],
};

export interface DoorRow {
  readonly file: string;
  /** The parts that may come in here. */
  readonly parts: readonly string[];
  readonly why: string;
}

/**
 * Doors besides the mod.ts of a part and of its folders. Each needs a reason: importing it costs memory and time that only
 * some programs should pay.
 */
export const DOORS: Readonly<Record<string, DoorRow>> = {
  '#wire/ctrl': {
    file: 'src/wire/ctrl.ts',
    parts: ['control', 'router'],
    why: 'the protobufs of the control channel cost every process memory and time at start; agents and gateways need none',
  },
  '#domain/backend-modes': {
    file: 'src/domain/backend-mode-table.ts',
    parts: ['agent', 'cli', 'contract', 'control', 'domain', 'gateway', 'net', 'router', 'sdk'],
    why: 'the console is bundled with this table, and with no other file of the part',
  },
  '#contract/access-sentences': {
    file: 'src/contract/access-sentences.ts',
    parts: ['cli'],
    why: 'the console is bundled with it, and with no other file of the part',
  },
  '#domain/versions': {
    file: 'src/domain/program-version.ts',
    parts: ['cli'],
    why: 'every command starts with the text of its version, and most load nothing else of the part',
  },
  '#domain/invalid-file': {
    file: 'src/domain/invalid-file.ts',
    parts: ['agent', 'cli', 'router'],
    why: '"router check" loads neither the network nor the rest of the domain',
  },
  '#net/datagrams': {
    file: 'src/net/datagrams/mod.ts',
    parts: ['agent', 'router', 'gateway'],
    why: 'only routers and tunnels (the other one is #agent/tunnel) carry datagrams, agents with a share or an access of datagrams, and gateways with a port of one; other programs load no UDP sockets',
  },
  '#net/yaml-file': {
    file: 'src/net/yaml-file.ts',
    parts: ['control', 'agent', 'cli'],
    why: 'the YAML parser is loaded when there is a file to read; most agents, control planes and commands have none',
  },
  '#contract/errors': {
    file: 'src/contract/errors/mod.ts',
    parts: [],
    why: 'the texts of the registry of errors are for the reference page, the library and tests; programs only throw the codes',
  },
  '#sdk/hosting': {
    file: 'src/sdk/hosting/mod.ts',
    parts: ['router'],
    why: 'configs of hosted services are followed by tunnels alone (the other one is #agent/tunnel); agents and gateways need none of it',
  },
  '#sdk/library': {
    file: 'src/sdk/library/mod.ts',
    parts: [],
    why: 'the library `@frontdoor-dev/frontdoor/sdk` has streams, events and remedies, which no program of Frontdoor loads',
  },
  '#gateway/acme-order': {
    file: 'src/gateway/acme/acme-order.ts',
    parts: [],
    why: 'the process of one order loads neither the data path nor what it stands on, and a gateway loads no library for orders',
  },
  '#agent/tunnel': {
    file: 'src/agent/tunnel/mod.ts',
    parts: [],
    why: 'an agent hosts shares and follows no configs: `frontdoor tunnel` alone loads what these need',
  },
  '#router/config': {
    file: 'src/router/config/mod.ts',
    parts: ['router'],
    why: 'a router file is judged, and its reference written, without the router: `router check` answers at once',
  },
};

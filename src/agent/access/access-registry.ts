/**
 * The private shares that this agent makes accessible on its machine. Those that a command opened are kept in a file and
 * opened again at the next start; those of the configuration file come from there.
 */
import { BackOff, formatHostPort, FrontdoorError, messageOf, type Log } from '#base';
import {
  keptAccessesShape,
  type AccessProtocol,
  type AgentAccessView,
  type KeptAccess,
} from '#domain/agent-shapes';
import type { Circuit } from '#sdk';
import { DATAGRAM_IDLE_MS } from '../datagram-side.ts';
import { loadStateFile, saveJsonFile } from '../state-file.ts';
import { AccessListener } from './access-listener.ts';
import type { UdpAccessListener } from './udp-access-listener.ts';

export interface AccessRegistryOptions {
  /** Path of the file that keeps the accesses. */
  readonly path: string;
  readonly dial: (share: string, timeoutMs: number, protocol: AccessProtocol) => Promise<Circuit>;
  readonly log: Log;
  readonly retryMs?: number | undefined;
}

/** Connections, or sources of datagrams. */
type Listener = AccessListener | UdpAccessListener;

/** One share at one address. */
interface Access {
  readonly wanted: KeptAccess;
  readonly isConfigured: boolean;
  listener: Listener | undefined;
  /** Why it is not open. */
  problem: string | undefined;
  retry: NodeJS.Timeout | undefined;
}

const MAX_ACCESSES = 256;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

export class AccessRegistry {
  readonly #options: AccessRegistryOptions;
  /** By share. */
  readonly #accesses = new Map<string, Access>();
  #isClosed = false;

  constructor(options: AccessRegistryOptions) {
    this.#options = options;
  }

  /** Opens the accesses of the last run. One whose port is taken is tried again until it is free. */
  async restore(): Promise<void> {
    const { path, log } = this.#options;
    const consequence = 'the list of accesses cannot be read; open them again';
    const kept = loadStateFile(path, keptAccessesShape, { log, consequence });
    for (const wanted of (kept?.accesses ?? []).slice(0, MAX_ACCESSES)) await this.#start(wanted, false);
  }

  /** Replaces the accesses of the configuration file. An access of a command to the same share remains. */
  async configure(wanted: readonly KeptAccess[]): Promise<void> {
    for (const { wanted: former, isConfigured } of [...this.#accesses.values()])
      if (isConfigured && !wanted.some((one) => isSame(one, former))) this.#remove(former.share);
    for (const one of wanted) if (!this.#accesses.has(one.share)) await this.#start(one, true);
  }

  /**
   * Opens a share at an address, or moves it there, and reports whether the share can be reached. Rejects with
   * `port-taken`, `cannot-listen` or `too-many-accesses`.
   */
  async open(wanted: KeptAccess): Promise<AgentAccessView> {
    const former = this.#accesses.get(wanted.share);
    const isThere = former?.listener !== undefined && isServed(wanted, former.wanted);
    if (former === undefined && this.#accesses.size >= MAX_ACCESSES)
      throw new FrontdoorError('limited', 'too-many-accesses', `there are ${MAX_ACCESSES} accesses already`);
    if (!isThere) {
      const listener = await this.#listen(wanted);
      this.#remove(wanted.share);
      const kept = { ...wanted, port: listener.port };
      this.#put({ wanted: kept, isConfigured: false, listener, problem: undefined, retry: undefined });
      this.#save();
    }
    const access = this.#accesses.get(wanted.share)!;
    await access.listener!.probe();
    return viewOf(access);
  }

  /** Ends an access and its connections. Rejects with `access-unknown`. */
  end(share: string): AgentAccessView {
    const access = this.#accesses.get(share);
    if (access === undefined) {
      const text = `there is no access to ${JSON.stringify(share)}; "frontdoor agent status" lists them`;
      throw new FrontdoorError('notFound', 'access-unknown', text);
    }
    const view = viewOf(access);
    this.#remove(share);
    this.#save();
    return view;
  }

  views(): AgentAccessView[] {
    return [...this.#accesses.values()].map(viewOf);
  }

  async drain(timeoutMs: number, cut: AbortSignal): Promise<void> {
    this.#isClosed = true;
    const listeners = [...this.#accesses.values()].flatMap(({ listener }) => listener ?? []);
    await Promise.all(listeners.map((listener) => listener.drain(timeoutMs, cut)));
  }

  close(): void {
    this.#isClosed = true;
    for (const share of [...this.#accesses.keys()]) this.#remove(share, 'the agent stopped');
  }

  async #start(wanted: KeptAccess, isConfigured: boolean): Promise<void> {
    const access: Access = {
      wanted,
      isConfigured,
      listener: undefined,
      problem: undefined,
      retry: undefined,
    };
    this.#put(access);
    await this.#tryToListen(access, new BackOff({ minMs: this.#options.retryMs ?? RETRY_MS, ...RETRIES }));
  }

  async #tryToListen(access: Access, backOff: BackOff): Promise<void> {
    const { wanted } = access;
    const isWanted = (): boolean => !this.#isClosed && this.#accesses.get(wanted.share) === access;
    try {
      const listener = await this.#listen(wanted);
      if (isWanted()) access.listener = listener;
      else listener.close('the access ended');
      access.problem = undefined;
    } catch (error) {
      if (access.problem === undefined)
        this.#options.log.warn({ share: wanted.share, err: messageOf(error) }, 'an access cannot be opened');
      access.problem = messageOf(error);
      if (isWanted())
        access.retry = setTimeout(() => void this.#tryToListen(access, backOff), backOff.next());
    }
  }

  async #listen({ share, host, port, protocol }: KeptAccess): Promise<Listener> {
    const { log } = this.#options;
    const dial = (name: string, timeoutMs: number): Promise<Circuit> =>
      this.#options.dial(name, timeoutMs, protocol);
    const common = { share, host, port, dial, log };
    if (protocol === 'tcp') return AccessListener.open(common);
    // Few agents have such an access.
    const { UdpAccessListener: Opened } = await import('./udp-access-listener.ts');
    return Opened.open({ ...common, place: `the access to ${share}`, idleTimeoutMs: DATAGRAM_IDLE_MS });
  }

  #put(access: Access): void {
    this.#accesses.set(access.wanted.share, access);
  }

  #remove(share: string, reason = 'the access ended'): void {
    const access = this.#accesses.get(share);
    if (access === undefined) return;
    this.#accesses.delete(share);
    clearTimeout(access.retry);
    access.listener?.close(reason);
  }

  #save(): void {
    const accesses = [...this.#accesses.values()].flatMap(({ wanted, isConfigured }) =>
      isConfigured ? [] : [wanted],
    );
    saveJsonFile(this.#options.path, keptAccessesShape.numbered({ accesses }));
  }
}

const RETRIES = { maxMs: MAX_RETRY_MS, factor: 2 } as const;

function isSame(one: KeptAccess, other: KeptAccess): boolean {
  return one.share === other.share && one.port === other.port && isServed(one, other);
}

/** Port 0 stands for any port. */
function isServed(wanted: KeptAccess, open: KeptAccess): boolean {
  const isSamePort = wanted.port === 0 || wanted.port === open.port;
  return wanted.host === open.host && wanted.protocol === open.protocol && isSamePort;
}

function viewOf({ wanted, listener, problem }: Access): AgentAccessView {
  return {
    share: wanted.share,
    listen: listener?.address ?? formatHostPort(wanted.host, wanted.port),
    protocol: wanted.protocol,
    isOpen: listener !== undefined,
    connections: listener?.connections ?? 0,
    problem: problem ?? listener?.problem ?? null,
  };
}

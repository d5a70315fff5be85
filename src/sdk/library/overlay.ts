/** The overlay as an identity sees it: services to dial, services to host, and what happens to both. */
import { EventEmitter } from 'node:events';
import { FrontdoorError, silentLog, systemClock, type Log } from '#base';
import { loadIdentityFile } from '#net/files';
import { EdgeApiClient } from '../edge-api-client.ts';
import type { ListedService, ListedTerminator } from './listed-service.ts';
import { IdentityRenewal } from '../identity-renewal.ts';
import { KeptControlPlanes } from '../kept-control-planes.ts';
import { OverlayClient, type RouterChange } from '../overlay-client.ts';
import { ServiceDirectory } from '../service-directory.ts';
import { abortable } from './abortable.ts';
import { outwardOf } from './outward.ts';
import { CircuitStream } from './circuit-stream.ts';
import { checkAddress, OverlayServer, terminatorOf, type BindOptions } from './overlay-server.ts';
import { ServiceWatch, type ServicesChange } from './service-watch.ts';

const DIAL_MS = 15_000;
const BIND_MS = 15_000;
const SERVICES_MS = 10_000;
/** Limit for routers to handle the last frames, and for far ends to repeat some. An ended stream takes 2 s where they may. */
const SETTLE_MS = 2_500;
const CONFIG_TYPES = ['host.v1', 'intercept.v1'];

export interface OverlayOptions {
  /** Path of the file that `enroll` wrote, or of an identity file of OpenZiti. Only its owner may access it. */
  readonly identityFile: string;
  /**
   * Path of the file that keeps the addresses of all control planes, so that the program starts while the one of its
   * enrollment is away. By default it lies beside the identity file and ends in `.control-planes.json`. With false, the
   * addresses are forgotten at the end.
   */
  readonly controllers?: string | false | undefined;
  /** Sent to hosts as the caller; by default the name of the identity. */
  readonly name?: string | undefined;
  /** Types of the configs that `services` lists; by default `host.v1` and `intercept.v1`. */
  readonly configTypes?: readonly string[] | undefined;
  /** Interval in ms at which services are followed while there is a listener of `servicesChanged`; 10,000 by default. */
  readonly servicesIntervalMs?: number | undefined;
  /** Deadline of each request to the control plane in ms; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * The URL of a proxy for all connections, such as `http://proxy.example:3128`, or `none`. By default the variables
   * `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` decide.
   */
  readonly proxy?: string | undefined;
  /** A logger in the form of pino. By default nothing is logged. */
  readonly log?: Log | undefined;
  /** Ends the attempt to open the overlay. */
  readonly signal?: AbortSignal | undefined;
}

export interface DialOptions {
  /** Address of the host to reach. By default a host without an address is reached. */
  readonly terminator?: string | undefined;
  /**
   * `required`: the dial fails if the host has no key for end-to-end encryption. `offered`: the circuit is in clear then.
   * By default as the service demands it.
   */
  readonly encryption?: 'required' | 'offered' | undefined;
  /** Time in ms for the whole dial; 15,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends the dial. It has no effect on the stream. */
  readonly signal?: AbortSignal | undefined;
}

export interface OverlayEvents {
  /** A channel to a router opened or ended. It is opened again by itself. */
  routerUp: [router: string];
  routerDown: [router: string, reason: string];
  /** The control plane ended the session. The next request logs in again. */
  sessionEnded: [];
  servicesChanged: [change: ServicesChange];
  close: [];
}

/** Logs in with the identity. Rejects with an `SdkError`, or with the reason of the signal. */
export function openOverlay(options: OverlayOptions): Promise<Overlay> {
  const { identityFile, controllers, log = silentLog, signal } = options;
  return abortable(
    signal,
    async () => {
      const identity = await loadIdentityFile(identityFile);
      const keptFile = controllers ?? `${identityFile.replace(/\.json$/, '')}.control-planes.json`;
      const controlPlanes = keptFile === false ? undefined : await KeptControlPlanes.load(keptFile, log);
      const { timeoutMs, configTypes = CONFIG_TYPES } = options;
      const outward = outwardOf(options.proxy);
      const api = new EdgeApiClient({ identity, log, controlPlanes, timeoutMs, configTypes, outward });
      try {
        const name = options.name ?? (await api.currentIdentity()).name;
        await api.session();
        signal?.throwIfAborted();
        return new Overlay(api, { ...options, name, log });
      } catch (error) {
        await api.close();
        throw error;
      }
    },
    (late) => void late.close(),
  );
}

export class Overlay extends EventEmitter<OverlayEvents> {
  /** Name that hosts receive as the caller. */
  readonly name: string;
  readonly #api: EdgeApiClient;
  readonly #client: OverlayClient;
  readonly #renewal: IdentityRenewal;
  readonly #options: OverlayOptions;
  readonly #log: Log;
  readonly #servers = new Set<OverlayServer>();
  readonly #streams = new Set<CircuitStream>();
  readonly #routersUp = new Set<string>();
  readonly #directory: ServiceDirectory;
  #watch: ServiceWatch | undefined;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(api: EdgeApiClient, options: OverlayOptions & { readonly name: string; readonly log: Log }) {
    super();
    const { name, log } = options;
    this.name = name;
    this.#api = api;
    this.#directory = new ServiceDirectory(api);
    this.#options = options;
    this.#log = log;
    api.onSessionEnd(() => this.emit('sessionEnded'));
    this.#client = new OverlayClient({ api, log, name, onRouter: (change) => this.#onRouter(change) });
    this.#renewal = new IdentityRenewal({ client: api, path: options.identityFile, log });
    this.on('newListener', (event) => {
      if (event === 'servicesChanged') this.#watch ??= this.#startWatch();
    });
    this.on('removeListener', (event) => {
      if (event === 'servicesChanged' && this.listenerCount('servicesChanged') === 0) this.#stopWatch();
    });
  }

  /** Names of the routers to which there is a channel. */
  get routers(): readonly string[] {
    return [...this.#routersUp];
  }

  /** `https://host:port` of all known control planes, the one of the enrollment first. */
  get controlPlanes(): readonly string[] {
    return this.#api.connection.controlPlanes;
  }

  /** Returns all services that this identity may dial or host. */
  services({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<
    readonly ListedService[]
  > {
    return this.#run(signal, () => this.#api.services());
  }

  /** Returns the hosts of a service, with their addresses. Rejects with `service-unknown`. */
  terminators(
    service: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<readonly ListedTerminator[]> {
    return this.#run(signal, async () =>
      this.#api.terminators((await this.#directory.find(service, 'Dial')).id),
    );
  }

  /**
   * Opens a circuit to a host of the service (by name). Rejects with an `SdkError` whose code is `service-unknown`,
   * `no-terminator`, `service-refused`, `service-timeout`, `not-authorized`, `control-away`, `timeout`,
   * `channel-closed` or `overlay`, or with the reason of the signal.
   */
  dial(service: string, options: DialOptions = {}): Promise<CircuitStream> {
    return this.#run(
      options.signal,
      async () => {
        checkAddress(options.terminator);
        const deadlineMs = systemClock.monotonicMs() + (options.timeoutMs ?? DIAL_MS);
        return this.#directory.dial(service, (found) => this.#dial(found, deadlineMs, options));
      },
      (late) => late.destroy(),
    );
  }

  /**
   * Hosts a service (by name) at every router, and resolves when the first one has confirmed it. Rejects with an
   * `SdkError` whose code is `service-unknown`, `terminator-invalid` or `bind-timeout`, or with the reason of the signal.
   */
  async bind(service: string, options: BindOptions = {}): Promise<OverlayServer> {
    const { signal, timeoutMs = BIND_MS } = options;
    let server: OverlayServer | undefined;
    try {
      return await this.#run(signal, async () => {
        const terminator = terminatorOf(options, this.#api.identity.keyPem);
        const found = await this.#directory.find(service, 'Bind');
        this.#checkOpen();
        signal?.throwIfAborted();
        server = new OverlayServer(this.#client, found, terminator, (stream) => this.#keep(stream));
        this.#own(server, signal);
        await untilBound(server, timeoutMs);
        return server;
      });
    } catch (error) {
      server?.close();
      throw error;
    }
  }

  /**
   * Ends all streams and servers, logs out and closes every connection. It waits up to 2.5 s for routers
   * to handle the last frames, and at OpenZiti's for far ends that may repeat some. Afterwards nothing of it keeps the process
   * running. Never rejects.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#stopWatch();
    this.#renewal.close();
    for (const server of this.#servers) server.close();
    for (const stream of this.#streams) stream.destroy();
    await this.#client.leave(SETTLE_MS);
    this.emit('close');
  }

  #run<T>(signal: AbortSignal | undefined, work: () => Promise<T>, discard?: (late: T) => void): Promise<T> {
    return abortable(
      signal,
      async () => {
        this.#checkOpen();
        return work();
      },
      discard,
    );
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new FrontdoorError('conflict', 'overlay-closed', 'the overlay has been closed');
  }

  async #dial(service: ListedService, deadlineMs: number, options: DialOptions): Promise<CircuitStream> {
    const { terminator, encryption = service.encryptionRequired ? 'required' : 'offered' } = options;
    const leftMs = Math.max(1, deadlineMs - systemClock.monotonicMs());
    const isEncryptionRequired = encryption === 'required';
    const circuit = await this.#client.dial(service.id, leftMs, { terminator, isEncryptionRequired });
    const stream = new CircuitStream(circuit, { service: service.name, callerId: '' });
    this.#keep(stream);
    return stream;
  }

  #keep(stream: CircuitStream): void {
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    if (this.#closing !== undefined) stream.destroy();
  }

  #own(server: OverlayServer, signal: AbortSignal | undefined): void {
    const onAbort = (): void => server.close();
    this.#servers.add(server);
    signal?.addEventListener('abort', onAbort, { once: true });
    server.once('close', () => {
      this.#servers.delete(server);
      signal?.removeEventListener('abort', onAbort);
    });
  }

  #onRouter({ name, isUp, reason = '' }: RouterChange): void {
    if (isUp) this.#routersUp.add(name);
    else this.#routersUp.delete(name);
    if (isUp) this.emit('routerUp', name);
    else this.emit('routerDown', name, reason);
  }

  #startWatch(): ServiceWatch | undefined {
    if (this.#closing !== undefined) return undefined;
    return new ServiceWatch({
      api: this.#api,
      intervalMs: this.#options.servicesIntervalMs ?? SERVICES_MS,
      log: this.#log,
      onChange: (change) => {
        this.#directory.forgetAll();
        this.emit('servicesChanged', change);
      },
    });
  }

  #stopWatch(): void {
    this.#watch?.stop();
    this.#watch = undefined;
  }
}

/** Rejects with `bind-timeout` and the last reason, or `overlay-closed`. */
async function untilBound(server: OverlayServer, timeoutMs: number): Promise<void> {
  if (server.state === 'bound') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let last: Error | undefined;
  const onState = (state: string, error: Error | undefined): void => {
    last = error ?? last;
    if (state === 'bound') resolve();
  };
  const onClose = (): void =>
    reject(new FrontdoorError('conflict', 'overlay-closed', 'the server has been closed'));
  const timer = setTimeout(() => {
    const reason = last === undefined ? 'no router confirmed it' : last.message;
    const message = `${server.service} could not be hosted within ${timeoutMs} ms: ${reason}`;
    reject(new FrontdoorError('timeout', 'bind-timeout', message, { cause: last }));
  }, timeoutMs);
  server.on('state', onState).once('close', onClose);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    server.off('state', onState).off('close', onClose);
  }
}

/** A service that this process hosts: each circuit of a dialer is emitted as a stream. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { FrontdoorError } from '#base';
import type { ListedService } from './listed-service.ts';
import type { HostedService, HostingState, IncomingDial, OverlayHost } from '../hosted-service.ts';
import {
  MAX_TERMINATOR_COST,
  PRECEDENCE,
  type TerminatorOptions,
  type TerminatorPrecedence,
} from '../terminator-options.ts';
import { terminatorSecret } from '../terminator-secret.ts';
import { CircuitStream } from './circuit-stream.ts';
import { sdkErrorOf } from './sdk-error.ts';

const MAX_ADDRESS_CHARACTERS = 255;
/** Streams that wait for a listener of `connection`; further ones are refused. */
const MAX_WAITING = 128;

export interface BindOptions {
  /**
   * Address of this host within the service, at most 255 characters. A dial that names it reaches only hosts with it, and
   * a dial without an address only hosts without one. None by default.
   */
  readonly terminator?: string | undefined;
  /**
   * Hosts that share an address have to present the same secret. By default it is derived from the key of the identity,
   * which a renewal of its certificate replaces.
   */
  readonly secret?: string | Uint8Array | undefined;
  /** From 0 to 65,535: hosts of lower cost are preferred. 0 by default. */
  readonly cost?: number | undefined;
  /** `required` hosts are dialed before those of `default`, and `failed` ones only if there are no others. */
  readonly precedence?: TerminatorPrecedence | undefined;
  /** Time in ms within which a router has to confirm the host; 15,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Aborted before the host is confirmed, it ends the attempt; later, it closes the server. */
  readonly signal?: AbortSignal | undefined;
}

/** `error` is the reason of the state `failed`. */
export interface OverlayServerEvents {
  connection: [stream: CircuitStream];
  /** `bound`: dialers can reach it. `binding` and `failed`: they cannot at the moment, and it is retried. */
  state: [state: HostingState, error: Error | undefined];
  close: [];
}

export class OverlayServer extends EventEmitter<OverlayServerEvents> {
  /** Name of the service. */
  readonly service: string;
  readonly #hosted: HostedService;
  readonly #onStream: (stream: CircuitStream) => void;
  /** Streams of dialers that came before there was a listener. */
  #waiting: CircuitStream[] = [];
  #isClosed = false;

  /** @internal */
  constructor(
    host: OverlayHost,
    service: ListedService,
    terminator: TerminatorOptions,
    onStream: (stream: CircuitStream) => void,
  ) {
    super();
    this.service = service.name;
    this.#onStream = onStream;
    const { id, name, encryptionRequired } = service;
    const bindable = {
      id,
      name,
      terminator,
      listenerId: randomUUID(),
      encryption: encryptionRequired ? ('offered' as const) : undefined,
    };
    this.#hosted = host.bind(bindable, (incoming) => this.#onDial(incoming));
    this.#hosted.onState = (state, error) => {
      this.emit('state', state, error === undefined ? undefined : sdkErrorOf(error));
    };
    this.on('newListener', (event) => {
      // The listener is added after this event.
      if (event === 'connection') queueMicrotask(() => this.#emitWaiting());
    });
  }

  get state(): HostingState {
    return this.#hosted.state;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Reports whether the service works. Circuits avoid a host that reported false while there are others. */
  reportHealth(passed: boolean): void {
    if (!this.#isClosed) this.#hosted.reportHealth(passed);
  }

  /** Stops hosting. Streams that were emitted continue. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hosted.close();
    for (const stream of this.#waiting) stream.destroy();
    this.emit('close');
  }

  #onDial(incoming: IncomingDial): void {
    const hasListener = this.listenerCount('connection') > 0;
    if (!hasListener && this.#waiting.length >= MAX_WAITING) {
      incoming.refuse('the host does not listen for connections');
      return;
    }
    const { callerId } = incoming;
    const stream = new CircuitStream(incoming.accept(), { service: this.service, callerId });
    // A dialer that goes away, as the probes of our control planes do, must not end a program that does not listen.
    stream.on('error', () => {});
    this.#onStream(stream);
    if (hasListener) this.emit('connection', stream);
    else this.#waiting.push(stream);
  }

  #emitWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const stream of waiting) if (!stream.destroyed) this.emit('connection', stream);
  }
}

/** Throws `terminator-invalid`. */
export function terminatorOf(options: BindOptions, keyPem: string): TerminatorOptions {
  const { terminator: identity, cost, precedence } = options;
  checkAddress(identity);
  if (cost !== undefined && !(Number.isInteger(cost) && cost >= 0 && cost <= MAX_TERMINATOR_COST))
    throw invalid(`the cost is not a whole number from 0 to ${MAX_TERMINATOR_COST}`);
  if (precedence !== undefined && !Object.hasOwn(PRECEDENCE, precedence))
    throw invalid(`the precedence is none of ${Object.keys(PRECEDENCE).join(', ')}`);
  if (identity === undefined) return { cost, precedence };
  const secret = typeof options.secret === 'string' ? Buffer.from(options.secret) : options.secret;
  return { identity, cost, precedence, secret: secret ?? terminatorSecret(identity, keyPem) };
}

/** Throws `terminator-invalid`. */
export function checkAddress(address: string | undefined): void {
  if (address === undefined) return;
  if (address === '' || address.length > MAX_ADDRESS_CHARACTERS)
    throw invalid(`the address of a terminator has 1 to ${MAX_ADDRESS_CHARACTERS} characters`);
}

function invalid(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'terminator-invalid', message);
}

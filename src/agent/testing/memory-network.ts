/**
 * A control plane and an overlay in memory, for tests of the agent: shares as records, binds that can be dialed,
 * and a measured status that follows the agent's reports. Not for production.
 */
import { randomUUID } from 'node:crypto';
import { definedFields, FrontdoorError } from '#base';
import type { BindableService, HostedService, HostingState, IncomingDial, OverlayHost } from '#sdk';
import type { AgentControlPlane, AgentNetwork, AgentShare, OwnShareRequest } from '../agent-network.ts';
import { memoryCircuit, type MemoryCircuit } from './memory-circuit.ts';

class MemoryHosted implements HostedService {
  state: HostingState = 'binding';
  isLowered = false;
  isClosed = false;
  onState: (state: HostingState, error?: Error) => void = () => {};
  readonly service: BindableService;
  readonly handler: (incoming: IncomingDial) => void;
  readonly reports: boolean[] = [];
  readonly #onReport: () => void;
  readonly #onClose: () => void;

  constructor(
    service: BindableService,
    handler: (incoming: IncomingDial) => void,
    hooks: { onReport: () => void; onClose: () => void },
  ) {
    this.service = service;
    this.handler = handler;
    this.#onReport = hooks.onReport;
    this.#onClose = hooks.onClose;
  }

  enter(state: HostingState, error?: Error): void {
    this.state = state;
    this.onState(state, error);
  }

  update(): void {}

  lower(): void {
    this.isLowered = true;
  }

  reportHealth(passed: boolean): void {
    this.reports.push(passed);
    this.#onReport();
  }

  close(): void {
    this.isClosed = true;
    this.#onClose();
  }
}

export class MemoryNetwork implements AgentNetwork {
  readonly environmentId = randomUUID();
  readonly environmentName = 'test';
  readonly apiUrl = 'https://127.0.0.1:1';
  readonly records = new Map<string, AgentShare>();
  readonly hosted = new Map<string, MemoryHosted>();
  /** Tokens of the shares whose circuits are to be encrypted. */
  readonly encrypted = new Set<string>();
  /** The names of the control plane's calls, in order. */
  readonly calls: string[] = [];
  /** The last request for each name. */
  readonly requests = new Map<string, OwnShareRequest>();
  /** If set, every call fails with it. */
  failure: FrontdoorError | undefined;
  /** If false, binds stay `binding`. */
  accepting = true;
  closed = false;
  /** Application data of dials. */
  appData: Uint8Array | undefined;
  #changes = 0;
  #watchers: (() => void)[] = [];

  readonly controlPlane: AgentControlPlane = {
    reportVersion: async (version) => this.#call(`reportVersion ${version}`, () => undefined),
    lastServiceChange: async () => this.#call('lastServiceChange', () => String(this.#changes)),
    bindableServices: async () =>
      this.#call('bindableServices', () =>
        [...this.records.values()].map(({ id, token }) => ({
          id,
          name: token,
          encryption: this.encrypted.has(token) ? 'offered' : undefined,
        })),
      ),
    shares: async () =>
      this.#call('shares', () => [...this.records.values()].map((share) => this.#measured(share))),
    createShare: async (share) =>
      this.#call('createShare', () => {
        this.requests.set(share.name ?? '', share);
        return this.put(share, true);
      }),
    releaseShare: async (token) =>
      this.#call('releaseShare', () => {
        if (!this.remove(token))
          throw new FrontdoorError('notFound', 'not-found', `Share ${token} not found`);
      }),
  };

  readonly host: OverlayHost = {
    bind: (service, handler) => {
      const hosted = new MemoryHosted(service, handler, {
        onReport: () => this.changed(),
        onClose: () => {
          if (this.hosted.get(service.name) === hosted) this.hosted.delete(service.name);
          this.changed();
        },
      });
      this.hosted.set(service.name, hosted);
      if (this.accepting) {
        setImmediate(() => {
          hosted.enter('bound');
          this.changed();
        });
      }
      return hosted;
    },
  };

  put(share: OwnShareRequest, targetByAgent: boolean): AgentShare {
    const token = share.name ?? randomUUID().slice(0, 12);
    const before = this.records.get(token);
    const record: AgentShare = definedFields({
      id: before?.id ?? randomUUID(),
      token,
      name: share.name ?? null,
      shareMode: share.shareMode,
      backendMode: share.backendMode,
      target: share.target,
      targetByAgent,
      reserved: share.name !== undefined,
      epoch: (before?.epoch ?? 0) + 1,
      grants: share.grants ?? [],
      frontendEndpoints: share.shareMode === 'public' ? [`http://${token}.share.localhost`] : [],
      status: 'PENDING' as const,
      upstream: share.upstream ?? before?.upstream,
      domains: share.domains?.map((hostname) => ({
        hostname,
        isServed: false,
        problem: null,
        record: `TXT _frontdoor-challenge.${hostname} value`,
      })),
    });
    this.records.set(token, record);
    this.changed();
    return record;
  }

  remove(token: string): boolean {
    const removed = this.records.delete(token);
    this.changed();
    return removed;
  }

  /** Dials as a router would: returns the far end of a circuit to the private service, or rejects. */
  dial(token: string, windowBytes?: number): Promise<MemoryCircuit> {
    const hosted = this.hosted.get(token);
    if (hosted === undefined || hosted.state !== 'bound') return Promise.reject(new Error('no terminator'));
    return new Promise((resolve, reject) => {
      hosted.handler({
        callerId: 'caller',
        serviceId: hosted.service.id,
        appData: this.appData,
        accept: () => {
          const { caller, host } = memoryCircuit(windowBytes);
          resolve(caller);
          return host;
        },
        refuse: (reason) => reject(new Error(reason)),
      });
    });
  }

  /** Resolves at the first change after which the condition holds. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.#watchers = this.#watchers.filter((each) => each !== check);
        resolve();
      };
      this.#watchers.push(check);
      check();
    });
  }

  changed(): void {
    this.#changes += 1;
    for (const watcher of [...this.#watchers]) watcher();
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  #measured(share: AgentShare): AgentShare {
    const hosted = this.hosted.get(share.token);
    const last = hosted?.reports.at(-1);
    if (hosted?.state !== 'bound' || last === undefined) return share;
    if (last) return { ...share, status: 'DEPLOYED' };
    return {
      ...share,
      status: 'FAILED',
      failure: { count: 1, lastError: 'measured: no answer', nextRetry: '' },
    };
  }

  #call<T>(name: string, work: () => T): T {
    this.calls.push(name);
    if (this.failure !== undefined) throw this.failure;
    return work();
  }
}

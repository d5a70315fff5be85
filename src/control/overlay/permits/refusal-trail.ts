/**
 * Records refused hellos, binds and dials in the log and in the audit trail of the refused identity's
 * organization. Peers of a router are known only from the router's reports; the signature of a reported
 * certificate proves its identity. The number of reports per router is limited, and the recorder limits the
 * events.
 */
import { X509Certificate } from 'node:crypto';
import { TokenBuckets, type Clock, type Log } from '#base';
import { QuietLog } from '#net';
import type { RefusedHello } from '#wire/ctrl';
import { reasonOf, refusedIdentity } from '../clients/refused-identity.ts';
import type { RefusalRecorder } from '../../audit/mod.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Pki, ProvenLeaf } from '../../pki/mod.ts';

/** For the reports of one router. */
const REPORT_LIMIT = { perSecond: 50, burst: 500 };

export interface RefusalTrailOptions {
  readonly model: OverlayModel;
  readonly proveLeaf: Pki['proveLeaf'];
  readonly recorder: Pick<RefusalRecorder, 'record'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RefusedRequest {
  readonly action: 'dial' | 'bind';
  /** Undefined if the presented certificate belongs to no identity. */
  readonly identityId: string | undefined;
  readonly reason: string;
  readonly routerId: string;
  /** Token of the share. */
  readonly share?: string | undefined;
}

export class RefusalTrail {
  readonly #options: RefusalTrailOptions;
  readonly #reports: TokenBuckets;
  readonly #quietLog: QuietLog;

  constructor(options: RefusalTrailOptions) {
    this.#options = options;
    this.#reports = new TokenBuckets(REPORT_LIMIT, options.clock);
    this.#quietLog = new QuietLog(options.log, () => options.clock.monotonicMs());
  }

  /** A request of a router on behalf of an SDK. */
  request({ action, identityId, reason, routerId, share }: RefusedRequest): void {
    const { model, recorder, log } = this.#options;
    const fields = { identity: identityId, share, router: routerId, reason };
    log.info(fields, `${action} refused`);
    const proven = identityId === undefined ? undefined : ({ id: identityId, role: 'identity' } as const);
    const target = share === undefined ? undefined : { kind: 'share', id: share };
    recorder.record({ ...refusedIdentity(model, proven), action, target, address: null, reason });
  }

  /** A hello at this controller with a router's certificate, or none. */
  routerHello(leaf: ProvenLeaf | undefined, problem: string, address: string): void {
    const { model, recorder } = this.#options;
    const who = refusedIdentity(model, leaf);
    recorder.record({ ...who, action: 'connectRouter', address, reason: reasonOf(problem) });
  }

  /** A hello at a router with an SDK's certificate, or none, which the router reports. */
  reportedHello(routerId: string, { certificate, address, reason, occurrences }: RefusedHello): void {
    const { model, recorder, log } = this.#options;
    if (this.#reports.take(routerId) > 0) {
      this.#quietLog.warn(
        { router: routerId },
        'a router reports too many refused hellos; some are not recorded',
      );
      return;
    }
    const leaf = this.#leafOf(certificate);
    const from = address === '' ? null : address;
    const fields = { identity: leaf?.id, router: routerId, address: from, reason, occurrences };
    log.info(fields, 'a router refused a hello');
    const target = { kind: 'router', id: routerId };
    recorder.record(
      { ...refusedIdentity(model, leaf), action: 'connect', target, address: from, reason },
      occurrences,
    );
  }

  /** `certificate` is DER in base64. Returns undefined if our authority did not issue it. */
  #leafOf(certificate: string): ProvenLeaf | undefined {
    if (certificate === '') return undefined;
    try {
      const proof = this.#options.proveLeaf(new X509Certificate(Buffer.from(certificate, 'base64')));
      return 'leaf' in proof ? proof.leaf : proof.outOfDate;
    } catch {
      return undefined;
    }
  }
}

/**
 * The operator's commands: create a share and wait until it can be dialed, or release one. Changes are sent to
 * the control plane one at a time. The agent's own list of targets is written first, so that a crash in between
 * has no effect.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  AgentShareRequest,
  AgentShareResult,
  AgentShareView,
  ShareReadiness,
} from '#domain/agent-shapes';
import { definedFields, FrontdoorError, messageOf, nearestNames } from '#base';
import { isShareLabel, shareNameRule } from '#domain';
import { checkUpstream, setsTargetTls } from '#domain/upstream';
import type { AgentControlPlane, AgentShare, OwnShareRequest } from './agent-network.ts';
import type { OwnTargets } from './own-targets.ts';
import type { ShareFollower } from './share-follower.ts';
import type { ShareRegistry } from './share-registry.ts';
import { modeProblem, parseTarget, routeTargets } from './target-address.ts';

export interface ShareCommandsOptions {
  readonly controlPlane: AgentControlPlane;
  readonly own: OwnTargets;
  readonly table: ShareRegistry;
  readonly follower: ShareFollower;
  /** How long `share` waits until the share can be dialed. */
  readonly readyTimeoutMs?: number;
  /** How long a measured failure may be from before the share was hosted. */
  readonly settleMs?: number;
}

const MAX_WAITING = 256;
const SUGGESTED_NAMES = 5;
/** What a configuration file says besides. */
type Guards = Pick<OwnShareRequest, 'authProviders' | 'policy' | 'sharedPolicy'>;

/** Before the second look at whether a share can be dialed; each later pause is half as long again. */
const FIRST_PAUSE_MS = 20;
/** Settings for certificates without a target that presents one would have no effect. */
const TLS_ONLY =
  'upstream settings for the certificate of the target need a target that starts with https://, h2:// or grpcs://';
const UNCERTAIN = new Set(['unavailable', 'timeout', 'badGateway', 'internal', 'protocol']);

export class ShareCommands {
  readonly #options: ShareCommandsOptions;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ShareCommandsOptions) {
    this.#options = options;
  }

  async share(request: AgentShareRequest): Promise<AgentShareResult> {
    const { follower, table, readyTimeoutMs = 15_000 } = this.#options;
    const deadlineMs = performance.now() + readyTimeoutMs;
    const share = await this.place(request);
    await follower.syncNow();
    const readiness = await this.#waitUntilReady(share.token, deadlineMs);
    return { share: table.view(table.share(share.token) ?? share), readiness };
  }

  /** Creates or reclaims the share, without waiting for a service. */
  async place(
    request: AgentShareRequest & { readonly [Each in keyof Guards]: Guards[Each] | undefined },
  ): Promise<AgentShare> {
    const { controlPlane, own } = this.#options;
    const parsed = parseTarget(request.target);
    if ('problem' in parsed) throw new FrontdoorError('invalid', 'invalid-target', parsed.problem);
    const { text, mode: backendMode } = parsed.target;
    const problem = modeProblem(request.mode, parsed.target);
    if (problem !== undefined) throw new FrontdoorError('invalid', 'invalid-target', problem);
    const [wrong] = checkUpstream(request.upstream ?? {});
    if (wrong !== undefined)
      throw new FrontdoorError(
        'invalid',
        'invalid-upstream',
        `upstream.${wrong.field} must be ${wrong.rule}`,
      );
    if (!('secure' in parsed.target && parsed.target.secure) && setsTargetTls(request.upstream ?? {}))
      throw new FrontdoorError('invalid', 'invalid-upstream', TLS_ONLY);
    const { name } = request;
    if (name !== undefined && !isShareLabel(name)) throw wrongName(name);
    const wanted: OwnShareRequest = definedFields({
      shareMode: request.mode,
      backendMode,
      target: text,
      grants: request.grants,
      name,
      upstream: request.upstream,
      authProviders: request.authProviders,
      policy: request.policy,
      sharedPolicy: request.sharedPolicy,
      domains: request.domains,
      ingress: request.ingress,
      ingressPort: request.ingressPort,
    });
    return await this.#inOrder(async () => {
      const before = name === undefined ? undefined : own.get(name);
      if (name !== undefined) {
        own.pin(name);
        own.set(name, text);
      }
      try {
        const share = await controlPlane.createShare(wanted);
        own.setCreated(share.token, text);
        const { routes } = request.upstream ?? {};
        if (routes !== undefined) own.setRoutes(share.token, routeTargets(routes));
        return share;
      } catch (error) {
        // If it is unknown whether the share was created, the target stays recorded, because the operator
        // requested it.
        const certain = error instanceof FrontdoorError && !UNCERTAIN.has(error.kind);
        if (name !== undefined && certain) own.set(name, before);
        throw sentenceFor(error, request);
      } finally {
        if (name !== undefined) own.unpin(name);
      }
    });
  }

  async release(name: string): Promise<{ token: string }> {
    const { controlPlane, own, follower, table } = this.#options;
    await this.#inOrder(async () => {
      await controlPlane.releaseShare(name).catch((error: unknown) => {
        throw isMissing(error) ? unknownShare(name, table.views()) : error;
      });
      own.set(name, undefined);
      own.setRoutes(name, []);
    });
    await follower.syncNow();
    return { token: name };
  }

  /**
   * Releases a share that may be gone already, if the condition holds once earlier changes are made. Returns whether it did.
   * The lists are not fetched again.
   */
  async releaseIf(name: string, isWanted: () => boolean): Promise<boolean> {
    return await this.#inOrder(async () => {
      const { controlPlane, own } = this.#options;
      if (!isWanted()) return false;
      const isReleased = await controlPlane.releaseShare(name).then(
        () => true,
        (error: unknown) => {
          if (!isMissing(error)) throw error;
          return false;
        },
      );
      own.set(name, undefined);
      return isReleased;
    });
  }

  async #waitUntilReady(token: string, deadlineMs: number): Promise<ShareReadiness> {
    const { table, follower, settleMs = 3_000 } = this.#options;
    let boundMs: number | undefined;
    let reason = 'the control plane has not listed the share for this agent yet';
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const hosted = table.byToken(token);
      if (hosted === undefined) await follower.syncNow();
      else if (hosted.hosting !== 'bound') {
        boundMs = undefined;
        reason = hosted.problem ?? 'no overlay router has accepted the share yet';
      } else {
        boundMs ??= performance.now();
        const settled = performance.now() - boundMs >= settleMs;
        try {
          const share = (await follower.fetchShares()).find((each) => each.token === token);
          if (hosted.healthy === true && share?.status === 'DEPLOYED') return { ready: true };
          const measured = share?.status === 'FAILED' ? share.failure?.lastError : undefined;
          reason = hosted.problem ?? measured ?? 'no circuit through the overlay has reached the service yet';
          // The agent's own check is recent. A measured failure may be older than the bind.
          if (hosted.healthy === false || (settled && measured !== undefined))
            return { ready: false, reason };
        } catch (error) {
          reason = messageOf(error);
        }
      }
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return { ready: false, reason };
      await delay(Math.min(pauseMs, leftMs));
      pauseMs = Math.min(pauseMs * 1.5, 1_000);
    }
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new FrontdoorError(
        'limited',
        'too-many-changes',
        'too many changes of shares are pending; retry later',
      );
    }
    this.#waiting += 1;
    const turn = this.#tail.then(work, work);
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof FrontdoorError && error.kind === 'notFound';
}

function wrongName(name: string): FrontdoorError {
  const message = `${JSON.stringify(name)} is not a ${shareNameRule(name)}`;
  return new FrontdoorError('invalid', 'share-name', message);
}

function unknownShare(name: string, shares: readonly AgentShareView[]): FrontdoorError {
  const near = nearestNames(
    name,
    shares.map(({ token }) => token),
    SUGGESTED_NAMES,
  );
  const others = near.length === 0 ? 'it has no shares' : `the nearest of its shares are ${near.join(', ')}`;
  const message = `this agent has no share called ${name}; ${others}`;
  return new FrontdoorError('notFound', 'unknown-share', message);
}

/** What the control plane refused, with the option that corrects it. */
function sentenceFor(error: unknown, { name, grants }: AgentShareRequest): unknown {
  if (!(error instanceof FrontdoorError)) return error;
  const { kind, code } = error;
  if (isMissing(error) && grants.length > 0) {
    const message = `${error.message}: give the ID or the name of an environment with --grant; "frontdoor environments list" shows them`;
    return new FrontdoorError(kind, code, message, { cause: error });
  }
  // Other conflicts are about ports or guards. The edge API writes codes in capitals.
  if (kind === 'conflict' && code.toLowerCase() === 'conflict' && name !== undefined) {
    const message = `${error.message}: another environment has or had it; choose another --name`;
    return new FrontdoorError(kind, code, message, { cause: error });
  }
  return error;
}

/**
 * The host `oauth.<zone>`, to which identity providers redirect browsers, and where origins find the public keys
 * of identity tokens. It serves nothing else, and only over TLS, so that codes are never sent in clear.
 */
import type { GatewayZoneOwner } from '#domain/gateway-shapes';
import { FAILURES } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { isForName, type ClientFacts } from '../circuits/route-decision.ts';
import type { AccessVerdict } from './access.ts';
import { ACCESS_FAILURES } from './access-failure-table.ts';
import { languageOf, type LoginFlow } from './login-flow.ts';
import { loggedOutPage } from './login-pages.ts';
import type { OriginIdentity } from './origin-identity.ts';
import { refusal, withOwnLines } from './own-verdicts.ts';
import { LOGGED_OUT_PATH } from './provider-logout.ts';
import { NO_LOOK } from './sign-in-looks.ts';

const KEY_SET_PATH = '/.well-known/jwks.json';
const CALLBACK = /^\/([0-9A-Za-z-]{1,64})\/auth\/callback$/;
const KEY_SET_LINES: readonly string[] = [
  'Content-Type: application/json',
  'Cache-Control: public, max-age=300',
  'X-Content-Type-Options: nosniff',
];

export class LoginHosts {
  readonly #logins: LoginFlow;
  readonly #origin: OriginIdentity;
  readonly #onZonesChanged: (() => void) | undefined;
  #zones: readonly string[] = [];
  #owners: ReadonlyMap<string, string> = new Map();
  #hosts: ReadonlySet<string> = new Set();

  /** `onZonesChanged` is called when the zones are known, and when they may have changed. */
  constructor(logins: LoginFlow, origin: OriginIdentity, onZonesChanged?: () => void) {
    this.#logins = logins;
    this.#origin = origin;
    this.#onZonesChanged = onZonesChanged;
  }

  get zones(): readonly string[] {
    return this.#zones;
  }

  /** `owners`: those of the zones that are custom frontends. */
  setZones(zones: readonly string[], owners: readonly GatewayZoneOwner[] = []): void {
    this.#zones = zones;
    this.#owners = new Map(owners.map(({ zone, organizationId }) => [zone, organizationId]));
    this.#hosts = new Set(zones.map((zone) => `oauth.${zone}`));
    this.#onZonesChanged?.();
  }

  /** The zones as the feed has them. */
  kept(): { readonly zones: readonly string[]; readonly zoneOwners: readonly GatewayZoneOwner[] } {
    const zoneOwners = Array.from(this.#owners, ([zone, organizationId]) => ({ zone, organizationId }));
    return { zones: this.#zones, zoneOwners };
  }

  /** The organization of a custom frontend's zone; undefined for another zone. */
  ownerOf(zone: string): string | undefined {
    return this.#owners.get(zone);
  }

  has(host: string): boolean {
    return this.#hosts.has(host);
  }

  /** Returns undefined if the host is not one of these. */
  decide(head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> | undefined {
    const { host } = head;
    if (!this.#hosts.has(host)) return undefined;
    const verdict = this.#decide(head, client);
    if (verdict instanceof Promise) return verdict.then((settled) => withOwnLines(settled, { host }, client));
    return withOwnLines(verdict, { host }, client);
  }

  #decide(head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> {
    if (!client.isSecure) return refusal(FAILURES.unknownHost);
    if (!isForName(client, head.host)) return refusal(FAILURES.misdirected);
    const question = head.target.indexOf('?');
    const path = question === -1 ? head.target : head.target.slice(0, question);
    const isGet = head.method === 'GET';
    if (path === KEY_SET_PATH && (isGet || head.method === 'HEAD')) {
      const answer = { status: 200, lines: KEY_SET_LINES, body: this.#origin.published };
      return { type: 'answer', decision: 'key-set', answer };
    }
    if (LOGGED_OUT_PATH.test(path) && isGet)
      return {
        type: 'answer',
        decision: 'logged-out',
        answer: loggedOutPage('provider', { look: NO_LOOK, language: languageOf(head) }),
      };
    const providerId = CALLBACK.exec(path)?.[1];
    if (providerId === undefined) return refusal(ACCESS_FAILURES.noSuchPage);
    if (!isGet) return refusal(ACCESS_FAILURES.wrongLoginMethod);
    return this.#logins.finish(providerId, head, client);
  }
}

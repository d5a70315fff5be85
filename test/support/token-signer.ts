/** A controller of OpenZiti as far as tokens go: it signs them, and its data model has its key. */
import { createPrivateKey, randomUUID, X509Certificate, type KeyObject } from 'node:crypto';
import { SignJWT, type JWTPayload } from 'jose';
import { fingerprintOf } from '#net/channel';
import {
  DataState_Action,
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
  type CtrlInit,
} from '#wire/ctrl';
import type { TestAuthority } from './certificates.ts';

type EventInit = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
export type DataModelChange = NonNullable<EventInit['model']>;

/** Claims over those of a good token; a claim that is undefined is left out. */
export type Claims = Readonly<Record<string, unknown>>;

const LIFE_S = 1_800;

export class TokenSigner {
  readonly kid: string;
  readonly certificate: X509Certificate;
  readonly #key: KeyObject;

  private constructor(certificate: X509Certificate, key: KeyObject) {
    this.certificate = certificate;
    this.kid = fingerprintOf(certificate);
    this.#key = key;
  }

  static async make(authority: TestAuthority): Promise<TokenSigner> {
    const { cert, key } = await authority.issue('controller');
    return new TokenSigner(new X509Certificate(cert), createPrivateKey(key));
  }

  /** As a controller puts it into the data model. */
  get publicKey(): DataModelChange {
    return {
      case: 'publicKey',
      value: {
        kid: this.kid,
        data: this.certificate.raw,
        format: DataState_PublicKeyFormat.X509_CERT_DER,
        usages: [DataState_PublicKeyUsage.JWT_VALIDATION],
      },
    };
  }

  /** Signs an access token of the API session `session-1` of `identity-1`, bound to the certificate with this fingerprint. */
  access(fingerprint: string, claims: Claims = {}, header: Claims = {}): Promise<string> {
    const own = { iss: 'https://localhost:1280/oidc', sub: 'identity-1', aud: ['native'], z_t: 'a' };
    return this.#sign({ ...own, z_cfs: [fingerprint], z_asid: 'session-1', ...claims }, header);
  }

  /** Signs a service token for `service-1` in that session. */
  service(type: 'Dial' | 'Bind', claims: Claims = {}, header: Claims = {}): Promise<string> {
    const own = { iss: 'https://localhost:1280', sub: 'service-1', aud: ['openziti'], z_t: 's', z_st: type };
    return this.#sign({ ...own, z_iid: 'identity-1', z_asid: 'session-1', ...claims }, header);
  }

  #sign(claims: Claims, header: Claims): Promise<string> {
    const nowS = Math.floor(Date.now() / 1_000);
    const times = { iat: nowS, nbf: nowS, exp: nowS + LIFE_S, jti: randomUUID() };
    const payload = JSON.parse(JSON.stringify({ ...times, ...claims })) as JWTPayload;
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', kid: this.kid, ...header })
      .sign(this.#key);
  }
}

const RELATED = {
  service: DataState_RelatedEntityType.RELATED_SERVICE,
  identity: DataState_RelatedEntityType.RELATED_IDENTITY,
  postureCheck: DataState_RelatedEntityType.RELATED_POSTURE_CHECK,
};

export function identityChange(id: string, disabled = false): DataModelChange {
  return { case: 'identity', value: { id, name: id, disabled } };
}

export function serviceChange(id: string): DataModelChange {
  return { case: 'service', value: { id, name: id } };
}

export function policyChange(id: string, type: 'Dial' | 'Bind'): DataModelChange {
  const policyType = type === 'Dial' ? DataState_PolicyType.DIAL_POLICY : DataState_PolicyType.BIND_POLICY;
  return { case: 'servicePolicy', value: { id, name: id, policyType } };
}

export function relationChange(
  policyId: string,
  kind: keyof typeof RELATED,
  relatedEntityIds: string[],
  add = true,
): DataModelChange {
  return {
    case: 'servicePolicyChange',
    value: { policyId, relatedEntityType: RELATED[kind], relatedEntityIds, add },
  };
}

/** A policy with one identity and one service. */
export function grantChanges(id: string, type: 'Dial' | 'Bind', identityId: string, serviceId: string) {
  return [
    policyChange(id, type),
    relationChange(id, 'service', [serviceId]),
    relationChange(id, 'identity', [identityId]),
  ];
}

export function eventsOf(
  changes: readonly DataModelChange[],
  action: DataState_Action = DataState_Action.CREATE,
): EventInit[] {
  return changes.map((model) => ({ model, action }));
}

/**
 * The public keys in the data model that sign tokens of controllers. Keys are parsed at their first use. A key that a
 * controller replaces or removes is not accepted from then on.
 */
import { bareHost } from '#base';
import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { DataState_PublicKeyFormat, DataState_PublicKeyUsage } from '#wire/ctrl';
import type { DataModel, Entity } from './data-model.ts';

type PublicKey = Extract<Entity, { case: 'publicKey' }>['value'];

export interface ControllerKey {
  readonly key: KeyObject;
  /** The JWS algorithms that the key can verify. */
  readonly algorithms: readonly string[];
  /** The certificate with the key; undefined if the model has only the key. */
  readonly certificate: X509Certificate | undefined;
}

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const CURVE_ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
};
/** As the host of a URL has it. */
const IP_ADDRESS = /^(?:\d+(?:\.\d+){3}|\[[0-9a-f:.]+\])$/;

export class ControllerKeys {
  readonly #model: DataModel;
  /** By the model's value, which a change of the model replaces. Undefined: not usable. */
  readonly #parsed = new WeakMap<PublicKey, { readonly key: ControllerKey | undefined }>();

  constructor(model: DataModel) {
    this.#model = model;
  }

  /** Returns undefined for an unknown key, or one that does not verify tokens. */
  byId(kid: string): ControllerKey | undefined {
    const entity = this.#model.entities('publicKey').get(kid);
    return entity?.case === 'publicKey' ? this.#parse(entity.value) : undefined;
  }

  /** Returns true if a certificate of a controller has this name or address of a host. */
  isControllerHost(host: string): boolean {
    for (const entity of this.#model.entities('publicKey').values()) {
      if (entity.case !== 'publicKey') continue;
      const certificate = this.#parse(entity.value)?.certificate;
      if (certificate !== undefined && hasName(certificate, host)) return true;
    }
    return false;
  }

  #parse(value: PublicKey): ControllerKey | undefined {
    let parsed = this.#parsed.get(value);
    if (parsed === undefined) {
      parsed = { key: parseKey(value) };
      this.#parsed.set(value, parsed);
    }
    return parsed.key;
  }
}

function parseKey({ usages, format, data }: PublicKey): ControllerKey | undefined {
  if (!usages.includes(DataState_PublicKeyUsage.JWT_VALIDATION)) return undefined;
  try {
    const certificate =
      format === DataState_PublicKeyFormat.X509_CERT_DER ? new X509Certificate(data) : undefined;
    if (certificate === undefined && format !== DataState_PublicKeyFormat.PKIX_PUBLIC_KEY) return undefined;
    const key =
      certificate?.publicKey ?? createPublicKey({ key: Buffer.from(data), format: 'der', type: 'spki' });
    return { key, algorithms: algorithmsOf(key), certificate };
  } catch {
    return undefined;
  }
}

function algorithmsOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): readonly string[] {
  if (type === 'rsa') return RSA_ALGORITHMS;
  if (type === 'ec') return CURVE_ALGORITHMS[details?.namedCurve ?? ''] ?? [];
  return type === 'ed25519' ? ['EdDSA'] : [];
}

/** `host` is one of a URL. */
function hasName(certificate: X509Certificate, host: string): boolean {
  if (!IP_ADDRESS.test(host)) return certificate.checkHost(host) !== undefined;
  return certificate.checkIP(bareHost(host)) !== undefined;
}

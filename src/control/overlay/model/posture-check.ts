/** Posture checks of the edge management API in the form of the router data model, by which they are judged, too. */
import { textsOf } from '#base';
import type { PostureCheck } from '#domain/posture';
import type { EdgeEntityRecord, JsonObject } from './edge-entity.ts';

export const POSTURE_CHECK_TYPES = ['OS', 'DOMAIN', 'MAC', 'MFA', 'PROCESS', 'PROCESS_MULTI'] as const;
export type PostureCheckType = (typeof POSTURE_CHECK_TYPES)[number];

/** A check of an unknown type passes nowhere. */
export function postureCheckOf({ data }: Pick<EdgeEntityRecord, 'data'>): PostureCheck {
  return { subtype: subtypeOf(data) };
}

function subtypeOf(data: JsonObject): PostureCheck['subtype'] {
  switch (data['typeId'] as PostureCheckType) {
    case 'OS': {
      const osList = objectsOf(data['operatingSystems']).map(({ type, versions }) => ({
        osType: String(type),
        osVersions: [...textsOf(versions)],
      }));
      return { case: 'osList', value: { osList } };
    }
    case 'DOMAIN':
      return { case: 'domains', value: { domains: [...textsOf(data['domains'])] } };
    case 'MAC':
      return { case: 'mac', value: { macAddresses: [...textsOf(data['macAddresses'])] } };
    case 'PROCESS': {
      const [process = {}] = objectsOf([data['process']]);
      const { signerFingerprint } = process;
      const signers =
        typeof signerFingerprint === 'string' && signerFingerprint !== '' ? [signerFingerprint] : [];
      return { case: 'process', value: processOf(process, signers) };
    }
    case 'PROCESS_MULTI': {
      const processes = objectsOf(data['processes']).map((process) =>
        processOf(process, textsOf(process['signerFingerprints'])),
      );
      return { case: 'processMulti', value: { semantic: String(data['semantic']), processes } };
    }
    case 'MFA':
      return {
        case: 'mfa',
        value: {
          timeoutSeconds: BigInt(typeof data['timeoutSeconds'] === 'number' ? data['timeoutSeconds'] : -1),
          promptOnWake: data['promptOnWake'] === true,
          promptOnUnlock: data['promptOnUnlock'] === true,
          ignoreLegacyEndpoints: data['ignoreLegacyEndpoints'] === true,
        },
      };
    default:
      return { case: undefined };
  }
}

function processOf({ osType, path, hashes }: JsonObject, fingerprints: readonly string[]) {
  return {
    osType: String(osType),
    path: String(path),
    hashes: [...textsOf(hashes)],
    fingerprints: [...fingerprints],
  };
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}

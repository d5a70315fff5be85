/**
 * Posture checks: what a device has to be like. Each type has fields of its own, in the forms of OpenZiti. Their lists have
 * bounds, because routers get all checks, and each log-in is judged by them.
 */
import { isVersionRange } from '#domain/posture';
import { invalidParameter } from '../../overlay/clients/mod.ts';
import { POSTURE_CHECK_TYPES, type JsonObject, type PostureCheckType } from '../../overlay/model/mod.ts';
import { findEdgeEntity, updateEdgeEntity } from '../../overlay/records/mod.ts';
import type { BodyReader } from './body-reader.ts';
import { roleAttributeSymbols, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource } from './entity-resource.ts';

const OS_TYPES = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const;
const MAX_SYSTEMS = 64;
const MAX_PROCESSES = 64;
/** A year. */
const MAX_TIMEOUT_S = 31_536_000;
const NO_TIMEOUT = -1;
const MAX_CHECKS = 1_000;

/** Reads the fields of a type. */
const READERS: Readonly<Record<PostureCheckType, (body: BodyReader) => JsonObject>> = {
  OS: (body) => ({
    operatingSystems: filled(
      body,
      'operatingSystems',
      body.list(
        'operatingSystems',
        MAX_SYSTEMS,
        (system) => {
          const versions = system.texts('versions');
          const wrong = versions.find((range) => !isVersionRange(range));
          if (wrong !== undefined) throw system.refusal('versions', `${wrong} is not a range of versions`);
          return { type: osType(system, 'type'), versions };
        },
        lowerFirst,
      ),
    ),
  }),
  DOMAIN: (body) => ({ domains: filled(body, 'domains', body.texts('domains')) }),
  MAC: (body) => ({ macAddresses: filled(body, 'macAddresses', body.texts('macAddresses')) }),
  MFA: (body) => ({
    // OpenZiti takes 0 for no timeout in what it shows, and for one that is over in what it permits.
    timeoutSeconds: body.whole('timeoutSeconds', MAX_TIMEOUT_S, NO_TIMEOUT) || NO_TIMEOUT,
    promptOnWake: body.flag('promptOnWake'),
    promptOnUnlock: body.flag('promptOnUnlock'),
    ignoreLegacyEndpoints: body.flag('ignoreLegacyEndpoints'),
  }),
  PROCESS: (body) => ({
    process: body.part('process', (process) => ({
      ...processOf(process),
      signerFingerprint: process.text('signerFingerprint'),
    })),
  }),
  PROCESS_MULTI: (body) => ({
    semantic: body.choice('semantic', ['AllOf', 'AnyOf']),
    processes: filled(
      body,
      'processes',
      body.list('processes', MAX_PROCESSES, (process) => ({
        ...processOf(process),
        signerFingerprints: process.texts('signerFingerprints'),
      })),
    ),
  }),
};

/** `ziti edge` sends `Type` and `Versions`, which Go reads like `type` and `versions`. */
function lowerFirst(key: string): string {
  return key.charAt(0).toLowerCase() + key.slice(1);
}

function processOf(process: BodyReader): JsonObject {
  const path = process.text('path');
  if (path === '') throw process.refusal('path', 'path is missing');
  return { osType: osType(process, 'osType'), path, hashes: process.texts('hashes') };
}

function osType(body: BodyReader, field: string): string {
  const given = body.text(field);
  if (!OS_TYPES.some((one) => one === given))
    throw body.refusal(field, `${field} must be one of [${OS_TYPES.join(',')}]`);
  return given;
}

/** A check without any value would refuse every device. */
function filled<T>(body: BodyReader, field: string, values: readonly T[]): readonly T[] {
  if (values.length === 0) throw body.refusal(field, `${field} must not be empty`);
  return values;
}

const postureCheckForm: EntityForm = {
  kind: 'posture-check',
  path: 'posture-checks',
  read(body) {
    const given = body.text('typeId');
    const typeId = POSTURE_CHECK_TYPES.find((one) => one === given);
    if (typeId === undefined)
      throw body.refusal('typeId', `typeId must be one of [${POSTURE_CHECK_TYPES.join(',')}]`);
    // Clients send it back.
    body.only('version', VERSION);
    return { typeId, roleAttributes: body.texts('roleAttributes'), ...READERS[typeId](body) };
  },
  references: () => [],
  symbols: {
    ...roleAttributeSymbols,
    typeId: { type: 'text', read: ({ data }) => String(data['typeId']) },
  },
  view: (_model, { data }) => ({ ...data, version: VERSION }),
};

const VERSION = 1;

export const postureCheckResource: EntityResource = {
  ...plainResource(postureCheckForm),
  maxCount: MAX_CHECKS,

  async update(_parts, { trx, touch }, entity) {
    const before = await findEdgeEntity(trx, 'posture-check', entity.id);
    const typeId = String(entity.data['typeId']);
    if (before !== undefined && before.data['typeId'] !== typeId)
      throw invalidParameter('typeId', 'the type of a posture check cannot change', typeId);
    await updateEdgeEntity(trx, touch, entity);
  },
};

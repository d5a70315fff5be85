/**
 * Posture checks: what a device has to be like. Each type has fields of its own, in the forms of OpenZiti. Their lists have
 * bounds, because routers get all checks, and each log-in is judged by them.
 */
import { isJsonObject } from '#base';
import { isVersionRange } from '#domain/posture';
import { invalidParameter } from '../../overlay/clients/mod.ts';
import { POSTURE_CHECK_TYPES, type JsonObject, type PostureCheckType } from '../../overlay/model/mod.ts';
import { findEdgeEntity, updateEdgeEntity } from '../../overlay/records/mod.ts';
import { choice, flag, list, neededChoice, neededText, part, text, texts, whole } from './body-fields.ts';
import { bodyReader, entityReader, quoted, type EntityBody } from './body-reader.ts';
import { roleAttributeSymbols, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource } from './entity-resource.ts';

const OS_TYPES = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const;
const MAX_SYSTEMS = 64;
const MAX_PROCESSES = 64;
const MAX_PATH_CHARS = 1_024;
/** A year. */
const MAX_TIMEOUT_S = 31_536_000;
const NO_TIMEOUT = -1;
const MAX_CHECKS = 1_000;

const VERSION = 1;

const COMMON_FIELDS = { typeId: neededChoice(POSTURE_CHECK_TYPES), roleAttributes: texts() };
/** Clients send it back. */
const SENT_BACK = { accepted: { version: [VERSION] } };

const PROCESS_FIELDS = {
  osType: neededChoice(OS_TYPES),
  path: neededText(MAX_PATH_CHARS),
  hashes: texts(),
};

const readType = bodyReader({ typeId: neededChoice(POSTURE_CHECK_TYPES) });

/** Reads the checks of a type. Those of a list without values would refuse every device. */
const READERS: Readonly<Record<PostureCheckType, (body: JsonObject) => EntityBody>> = {
  OS: entityReader(
    {
      ...COMMON_FIELDS,
      operatingSystems: list(part({ type: neededChoice(OS_TYPES), versions: texts() }), MAX_SYSTEMS),
    },
    (fields) => {
      checkFilled('operatingSystems', fields.operatingSystems);
      for (const [at, { versions }] of fields.operatingSystems.entries()) {
        const wrong = versions.find((range) => !isVersionRange(range));
        if (wrong === undefined) continue;
        const field = `operatingSystems[${at}].versions`;
        throw invalidParameter(field, `${wrong} is not a range of versions`, quoted(versions));
      }
      return fields;
    },
    SENT_BACK,
  ),
  DOMAIN: entityReader(
    { ...COMMON_FIELDS, domains: texts() },
    (fields) => {
      checkFilled('domains', fields.domains);
      return fields;
    },
    SENT_BACK,
  ),
  MAC: entityReader(
    { ...COMMON_FIELDS, macAddresses: texts() },
    (fields) => {
      checkFilled('macAddresses', fields.macAddresses);
      return fields;
    },
    SENT_BACK,
  ),
  MFA: entityReader(
    {
      ...COMMON_FIELDS,
      timeoutSeconds: whole(MAX_TIMEOUT_S, NO_TIMEOUT),
      promptOnWake: flag(),
      promptOnUnlock: flag(),
      ignoreLegacyEndpoints: flag(),
    },
    // OpenZiti takes 0 for no timeout in what it shows, and for one that is over in what it permits.
    (fields) => ({ ...fields, timeoutSeconds: fields.timeoutSeconds || NO_TIMEOUT }),
    SENT_BACK,
  ),
  PROCESS: entityReader(
    { ...COMMON_FIELDS, process: part({ ...PROCESS_FIELDS, signerFingerprint: text() }) },
    (fields) => fields,
    SENT_BACK,
  ),
  PROCESS_MULTI: entityReader(
    {
      ...COMMON_FIELDS,
      semantic: choice(['AllOf', 'AnyOf']),
      processes: list(part({ ...PROCESS_FIELDS, signerFingerprints: texts() }), MAX_PROCESSES),
    },
    (fields) => {
      checkFilled('processes', fields.processes);
      return fields;
    },
    SENT_BACK,
  ),
};

function checkFilled(field: string, values: readonly unknown[]): void {
  if (values.length === 0) throw invalidParameter(field, `${field} must not be empty`, quoted(values));
}

/** `ziti edge` sends `Type` and `Versions`, which Go reads like `type` and `versions`. */
function withLowerFirst(system: unknown): unknown {
  if (!isJsonObject(system)) return system;
  const entries = Object.entries(system);
  return Object.fromEntries(
    entries.map(([key, value]) => [key.charAt(0).toLowerCase() + key.slice(1), value]),
  );
}

const postureCheckForm: EntityForm = {
  kind: 'posture-check',
  path: 'posture-checks',
  read(body) {
    const { typeId } = readType({ typeId: body['typeId'] });
    const { operatingSystems: systems } = body;
    if (typeId !== 'OS' || !Array.isArray(systems)) return READERS[typeId](body);
    return READERS.OS({ ...body, operatingSystems: systems.map(withLowerFirst) });
  },
  references: () => [],
  symbols: {
    ...roleAttributeSymbols,
    typeId: { type: 'text', read: ({ data }) => String(data['typeId']) },
  },
  view: (_model, { data }) => ({ ...data, version: VERSION }),
};

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

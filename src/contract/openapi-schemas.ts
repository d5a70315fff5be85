/**
 * The contract's schemas for the API description: each exported schema is a component under its name, and our
 * string formats are replaced by standard keywords. The server validates with the schemas themselves.
 */
import type { TSchema } from 'typebox';
import { definedFields } from '#base';
import { enumerationNamed } from './enumeration-table.ts';
import { fieldDescription } from './field-description-table.ts';
import * as accessSchemas from './schemas/access-schemas.ts';
import * as authoritySchemas from './schemas/authority-schemas.ts';
import * as customFrontendSchemas from './schemas/custom-frontend-schemas.ts';
import * as domainSchemas from './schemas/domain-schemas.ts';
import * as eventExportSchemas from './schemas/event-export-schemas.ts';
import * as fabricSchemas from './schemas/fabric-schemas.ts';
import { stringFormats, type FormatName } from './format-table.ts';
import * as installationSchemas from './schemas/installation-schemas.ts';
import * as metricSchemas from './schemas/metric-schemas.ts';
import * as notificationSchemas from './schemas/notification-schemas.ts';
import * as organizationSchemas from './schemas/organization-schemas.ts';
import * as peopleSchemas from './schemas/people-schemas.ts';
import * as secondFactorSchemas from './schemas/second-factor-schemas.ts';
import * as policySchemas from './schemas/policy-schemas.ts';
import * as providerSchemas from './schemas/provider-schemas.ts';
import * as recordSchemas from './schemas/record-schemas.ts';
import * as requestLogSchemas from './schemas/request-log-schemas.ts';
import * as resourceSchemas from './schemas/resource-schemas.ts';
import * as searchSchemas from './schemas/search-schemas.ts';
import * as summarySchemas from './schemas/summary-schemas.ts';
import * as upstreamSchemas from './schemas/upstream-schemas.ts';

export type Json = Readonly<Record<string, unknown>>;

const SUFFIX = 'Schema';
const names: ReadonlyMap<unknown, string> = namesOf(
  accessSchemas,
  authoritySchemas,
  customFrontendSchemas,
  domainSchemas,
  eventExportSchemas,
  fabricSchemas,
  installationSchemas,
  metricSchemas,
  notificationSchemas,
  organizationSchemas,
  peopleSchemas,
  secondFactorSchemas,
  policySchemas,
  providerSchemas,
  recordSchemas,
  requestLogSchemas,
  resourceSchemas,
  searchSchemas,
  summarySchemas,
  upstreamSchemas,
);

function namesOf(...modules: readonly Readonly<Record<string, unknown>>[]): ReadonlyMap<unknown, string> {
  const found = new Map<unknown, string>();
  for (const [name, value] of modules.flatMap((module) => Object.entries(module))) {
    if (!name.endsWith(SUFFIX) || typeof value !== 'object') continue;
    found.set(value, name.charAt(0).toUpperCase() + name.slice(1, -SUFFIX.length));
  }
  return found;
}

/** Returns the component name of a schema. Pages are named after their entries. */
export function componentNameOf(schema: TSchema): string | undefined {
  const { content, pageable } = propertiesOf(schema);
  if (content === undefined || pageable === undefined) {
    return schema === resourceSchemas.openObjectSchema ? undefined : names.get(schema);
  }
  const entry = names.get((content as { readonly items?: unknown }).items);
  return entry === undefined ? undefined : `${entry.replace(/Entry$/, '')}Page`;
}

export function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return ((schema as Json)['properties'] ?? {}) as Readonly<Record<string, TSchema>>;
}

/** Collects the components that a description refers to. Enumerations and objects are always components. */
export class SchemaComponents {
  readonly #found = new Map<string, Json>();
  /** Component names of objects without a name of their own, by their JSON text. The first name is kept. */
  readonly #unnamed = new Map<string, string>();

  /** Returns a reference if the schema is a component, and the schema itself otherwise. */
  use(schema: TSchema): Json {
    const name = componentNameOf(schema);
    return name === undefined ? this.#part(schema, 'Value') : this.#component(name, schema);
  }

  /** Returns the enumeration of these values, by reference if it has a name. */
  useValues(values: readonly string[]): Json {
    return this.#part({ type: 'string', enum: values }, '');
  }

  /** Returns the components by name, in alphabetical order. */
  all(): Readonly<Record<string, Json>> {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #component(name: string, schema: TSchema): Json {
    if (!this.#found.has(name)) {
      this.#found.set(name, {});
      this.#found.set(name, this.#described(schema, name));
    }
    return referenceTo(name);
  }

  /** Converts a schema inside a component; `path` becomes its name if it needs one. */
  #part(schema: TSchema, path: string): Json {
    const { type, enum: values, description, readOnly } = schema as Json;
    if (Array.isArray(values)) {
      const isNullable = values.includes(null);
      const named = enumerationNamed(values.filter((value): value is string => value !== null));
      if (named === undefined) return this.#described(schema, path);
      this.#found.set(named.name, { type: 'string', enum: named.values, description: named.description });
      const reference = referenceTo(named.name);
      return definedFields({
        ...(isNullable ? { oneOf: [reference, { type: 'null' }] } : reference),
        description,
      });
    }
    const ownName = componentNameOf(schema);
    if (ownName !== undefined) return this.#component(ownName, schema);
    if (readOnly === true || Object.keys(propertiesOf(schema)).length === 0) {
      return this.#described(schema, path);
    }
    const isNullable = Array.isArray(type);
    const text = JSON.stringify({ ...schema, type: 'object', description: undefined });
    const name = this.#unnamed.get(text) ?? path;
    if (this.#found.has(name) && !this.#unnamed.has(text)) {
      throw new Error(`${name} names two schemas; export one of them under a name of its own`);
    }
    this.#unnamed.set(text, name);
    const { description: _, ...rest } = schema as Json;
    const reference = this.#component(name, { ...rest, type: 'object' });
    const words = description === undefined ? {} : { description };
    return isNullable ? { oneOf: [reference, { type: 'null' }], ...words } : { ...reference, ...words };
  }

  #described(schema: TSchema, path: string): Json {
    const { format, properties, items, ...rest } = schema as Json;
    const words =
      typeof format === 'string' ? (stringFormats[format as FormatName]?.words ?? { format }) : {};
    return {
      ...words,
      ...(rest['readOnly'] === true ? { description: 'Accepted with any value and ignored.' } : {}),
      ...rest,
      ...(isOpenObject(schema as Json) ? { additionalProperties: true } : {}),
      ...(properties === undefined ? {} : { properties: this.#fields(schema, path) }),
      ...(items === undefined ? {} : { items: this.#part(items as TSchema, partName(path, '')) }),
    };
  }

  #fields(schema: TSchema, path: string): Readonly<Record<string, Json>> {
    return Object.fromEntries(
      Object.entries(propertiesOf(schema)).map(([name, field]) => {
        const part = this.#part(field, partName(path, name));
        if (part['description'] !== undefined && (field as Json)['description'] !== undefined)
          return [name, part];
        const description = (field as Json)['readOnly'] === true ? undefined : fieldDescription(path, name);
        return [name, description === undefined ? part : { ...part, description }];
      }),
    );
  }
}

/**
 * An object without declared properties is marked as open, because some generators take it for an empty object
 * otherwise.
 */
function isOpenObject({ type, properties, additionalProperties }: Json): boolean {
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return isObject && properties === undefined && additionalProperties === undefined;
}

function referenceTo(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the component name for a field of a component, or for the entries of a list. */
function partName(path: string, field: string): string {
  if (field === '')
    return path.endsWith('List') ? `${path.slice(0, -4)}Entry` : path.replace(/ies$/, 'y').replace(/s$/, '');
  return `${path}${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

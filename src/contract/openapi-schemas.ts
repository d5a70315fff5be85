/**
 * The contract's schemas as they stand in the API's description: each exported schema is a component under its name,
 * our own string formats are said in standard words. The server validates with the schemas themselves.
 */
import type { TSchema } from 'typebox';
import * as accessSchemas from './access-schemas.ts';
import * as fabricSchemas from './fabric-schemas.ts';
import { stringFormats, type FormatName } from './format-table.ts';
import * as installationSchemas from './installation-schemas.ts';
import * as metricSchemas from './metric-schemas.ts';
import * as organizationSchemas from './organization-schemas.ts';
import * as providerSchemas from './provider-schemas.ts';
import * as recordSchemas from './record-schemas.ts';
import * as resourceSchemas from './resource-schemas.ts';

export type Json = Readonly<Record<string, unknown>>;

const SUFFIX = 'Schema';
const names: ReadonlyMap<unknown, string> = namesOf(
  accessSchemas,
  fabricSchemas,
  installationSchemas,
  metricSchemas,
  organizationSchemas,
  providerSchemas,
  recordSchemas,
  resourceSchemas,
);

function namesOf(...modules: readonly Readonly<Record<string, unknown>>[]): ReadonlyMap<unknown, string> {
  const found = new Map<unknown, string>();
  for (const [name, value] of modules.flatMap((module) => Object.entries(module))) {
    if (!name.endsWith(SUFFIX) || typeof value !== 'object') continue;
    found.set(value, name.charAt(0).toUpperCase() + name.slice(1, -SUFFIX.length));
  }
  return found;
}

/** The name of a schema that is a component; pages are named by their entries. */
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

/** Gathers the components that a description refers to. */
export class SchemaComponents {
  readonly #found = new Map<string, Json>();

  /** A reference where the schema is a component, else the schema itself. */
  use(schema: TSchema): Json {
    const name = componentNameOf(schema);
    if (name === undefined) return this.#described(schema);
    if (!this.#found.has(name)) {
      this.#found.set(name, {});
      this.#found.set(name, this.#described(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** By name, in the order of names. */
  all(): Readonly<Record<string, Json>> {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #described(schema: TSchema): Json {
    const { format, properties, items, ...rest } = schema as Json;
    const words =
      typeof format === 'string' ? (stringFormats[format as FormatName]?.words ?? { format }) : {};
    const isIgnored = rest['readOnly'] === true;
    return {
      ...words,
      ...(isIgnored ? { description: 'Accepted whatever it is, and ignored' } : {}),
      ...rest,
      ...(properties === undefined
        ? {}
        : { properties: mapped(properties as Readonly<Record<string, TSchema>>, (each) => this.use(each)) }),
      ...(items === undefined ? {} : { items: this.use(items as TSchema) }),
    };
  }
}

function mapped<T, U>(of: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]));
}

/**
 * Compiles a schema of `Type` into a reader of values that came from outside. A reader checks a value against the
 * schema, puts defaults in for missing fields, and treats unknown fields as the schema's object says: they are left out
 * unless `additionalProperties` is true (kept), false (refused) or a schema (read by it). The value that came is never
 * changed; when nothing has to change, it is returned itself. Accepts the keywords of `Keywords` and no others.
 */
import type { Static, TSchema } from 'typebox';
import { isJsonObject } from '../json-object.ts';

/** A part of a value that could not be read, instead of which the value continues without it. */
export interface LostEntry {
  /** Name of the lossy list or field. */
  readonly list: string;
  /** Position in the list; -1 for a field. */
  readonly index: number;
  /** Name of an entry of a map. */
  readonly name?: string | undefined;
  /** Dotted path inside the entry, '' for the entry itself; of a field: from its object. */
  readonly field: string;
  readonly rule: string;
  readonly entry: unknown;
}

/** The type that a schema describes, for reading only. */
export type ShapeOf<S extends TSchema> = DeepReadonly<Static<S>>;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export interface SchemaValue<T> {
  readonly value: T;
  /** Entries that could not be read and are missing in `value`. */
  readonly lost: readonly LostEntry[];
}

export interface UnreadValue {
  /** Dotted path of the first part that is wrong; '' for the whole. */
  readonly field: string;
  /** What it must be, such as `must be a text of at most 64 characters`. */
  readonly rule: string;
}

export type SchemaReader<T> = (value: unknown) => SchemaValue<T> | UnreadValue;

/** A condition beyond what schemas express. `rule` completes "must be …". */
export interface Refinement {
  readonly rule: string;
  check(value: unknown): boolean;
}

interface Keywords {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly [Keywords, { readonly type: 'null' }];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly items?: Keywords;
  readonly prefixItems?: readonly Keywords[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Keywords;
  readonly maxProperties?: number;
  /** Name of the field whose value chooses one of `variants`. */
  readonly tag?: string;
  readonly variants?: Readonly<Record<string, Keywords>>;
  readonly refinement?: Refinement;
  readonly default?: unknown;
  /** Entries of the list or map that cannot be read are left out, and are known by this name. */
  readonly lossy?: string;
  /** A field of an object that cannot be read is replaced by `fallback`, and is known by this name. */
  readonly replaced?: string;
  readonly fallback?: unknown;
}

type Step = (value: unknown, fault: Fault) => unknown;
type Fields = Readonly<Record<string, unknown>>;

const FAILED = Symbol('failed');
/** Longest part of a name from outside that a path quotes. */
const MAX_NAME_CHARS = 64;

/** What went wrong in one value; it costs nothing while nothing does. */
class Fault {
  /** From the innermost part outwards. */
  readonly #path: (string | number)[] = [];
  #lost: LostEntry[] | undefined;
  rule = '';

  get lost(): readonly LostEntry[] {
    return this.#lost ?? NONE;
  }

  get field(): string {
    return this.#path.toReversed().join('.');
  }

  fail(rule: string): typeof FAILED {
    this.rule = rule;
    return FAILED;
  }

  /** The failure is inside this part. */
  in(part: string | number): typeof FAILED {
    this.#path.push(part);
    return FAILED;
  }

  /** The failure costs this entry and nothing else. */
  lose(list: string, index: number, entry: unknown, name?: string): void {
    this.#lost ??= [];
    const lost = { list, index, field: this.field, rule: this.rule, entry };
    this.#lost.push(name === undefined ? lost : { ...lost, name });
    this.#path.length = 0;
  }
}

const NONE: readonly LostEntry[] = [];

export function compileReader<S extends TSchema>(schema: S): SchemaReader<ShapeOf<S>> {
  const step = stepOf(schema);
  return (value) => {
    const fault = new Fault();
    const read = step(value, fault);
    if (read === FAILED) return { field: fault.field, rule: fault.rule };
    return { value: read as ShapeOf<S>, lost: fault.lost };
  };
}

function stepOf(schema: Keywords): Step {
  const step = plainStepOf(schema);
  return schema.refinement === undefined ? step : refinedStep(step, schema.refinement);
}

function plainStepOf(schema: Keywords): Step {
  if (schema.anyOf !== undefined) {
    const step = stepOf(schema.anyOf[0]);
    return (value, fault) => (value === null ? null : step(value, fault));
  }
  if (schema.variants !== undefined) return variantStep(schema);
  if (Object.hasOwn(schema, 'const')) return wordStep([schema.const]);
  if (schema.enum !== undefined) return wordStep(schema.enum);
  switch (schema.type) {
    case 'string':
      return textStep(schema);
    case 'integer':
    case 'number':
      return numberStep(schema);
    case 'boolean':
      return (value, fault) => (typeof value === 'boolean' ? value : fault.fail('must be true or false'));
    case 'array':
      return schema.prefixItems === undefined ? listStep(schema) : tupleStep(schema.prefixItems);
    case 'object':
      return objectStep(schema);
    case 'null':
      return (value, fault) => (value === null ? null : fault.fail('must be null'));
    default:
      return (value) => value;
  }
}

function refinedStep(step: Step, { rule, check }: Refinement): Step {
  return (value, fault) => {
    const read = step(value, fault);
    return read === FAILED || check(read) ? read : fault.fail(`must be ${rule}`);
  };
}

function variantStep({ tag = '', variants = {} }: Keywords): Step {
  const steps = new Map(Object.entries(variants).map(([name, schema]) => [name, stepOf(schema)]));
  const rule = `must be one of ${[...steps.keys()].join(', ')}`;
  return (value, fault) => {
    if (!isJsonObject(value)) return fault.fail('must be an object');
    const step = steps.get(value[tag] as string);
    if (step !== undefined) return step(value, fault);
    fault.fail(rule);
    return fault.in(tag);
  };
}

function wordStep(words: readonly unknown[]): Step {
  const known = new Set(words);
  const rule = `must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`;
  return (value, fault) => (known.has(value) ? value : fault.fail(rule));
}

function textStep({ minLength = 0, maxLength = Infinity, pattern }: Keywords): Step {
  const rule = `must be a text${boundWords(minLength, maxLength, 'characters')}`;
  const form = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const formRule = `must be a text of the form ${pattern}`;
  return (value, fault) => {
    if (typeof value !== 'string' || value.length > maxLength || value.length < minLength)
      return fault.fail(rule);
    return form === undefined || form.test(value) ? value : fault.fail(formRule);
  };
}

function numberStep({ type, minimum = -Infinity, maximum = Infinity, multipleOf }: Keywords): Step {
  const isNumber = type === 'integer' ? Number.isSafeInteger : Number.isFinite;
  const multiple = multipleOf === undefined ? '' : ` and a multiple of ${multipleOf}`;
  const bounds = minimum === -Infinity && maximum === Infinity ? '' : rangeWords(minimum, maximum);
  const rule = `must be a ${type === 'integer' ? 'whole ' : ''}number${bounds}${multiple}`;
  return (value, fault) => {
    const number = value as number;
    if (!isNumber(value) || number < minimum || number > maximum) return fault.fail(rule);
    return multipleOf === undefined || number % multipleOf === 0 ? value : fault.fail(rule);
  };
}

function tupleStep(schemas: readonly Keywords[]): Step {
  const steps = schemas.map(stepOf);
  const rule = `must be a list of ${steps.length} entries`;
  return (value, fault) => {
    if (!Array.isArray(value) || value.length !== steps.length) return fault.fail(rule);
    let copy: unknown[] | undefined;
    for (let at = 0; at < steps.length; at += 1) {
      const read = steps[at]!(value[at], fault);
      if (read === FAILED) return fault.in(at);
      if (read !== value[at]) copy ??= value.slice(0, at);
      copy?.push(read);
    }
    return copy ?? value;
  };
}

function listStep({ items = {}, minItems = 0, maxItems = Infinity, lossy }: Keywords): Step {
  const step = stepOf(items);
  const rule = `must be a list${boundWords(minItems, maxItems, 'entries')}`;
  return (value, fault) => {
    if (!Array.isArray(value) || value.length > maxItems || value.length < minItems) return fault.fail(rule);
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      const read = step(item, fault);
      if (read === item) copy?.push(item);
      else if (read !== FAILED) (copy ??= value.slice(0, at)).push(read);
      else if (lossy !== undefined) {
        copy ??= value.slice(0, at);
        fault.lose(lossy, at, item);
      } else return fault.in(at);
    }
    return copy ?? value;
  };
}

/** One known field. */
interface Field {
  readonly name: string;
  readonly step: Step;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  readonly default: unknown;
  readonly replaced: string | undefined;
  readonly fallback: unknown;
}

function objectStep(schema: Keywords): Step {
  const { properties = {}, required = [], maxProperties = Infinity } = schema;
  const fields: readonly Field[] = Object.entries(properties).map(([name, field]) => ({
    name,
    step: stepOf(field),
    isRequired: required.includes(name),
    hasDefault: Object.hasOwn(field, 'default'),
    default: field.default,
    replaced: field.replaced,
    fallback: field.fallback,
  }));
  const readOthers = otherFieldsStep(schema, new Set(Object.keys(properties)));
  const mostRule = `must be an object of at most ${maxProperties} fields`;
  return (value, fault) => {
    if (!isJsonObject(value)) return fault.fail('must be an object');
    let copy: Record<string, unknown> | undefined;
    let known = 0;
    for (let at = 0; at < fields.length; at += 1) {
      const field = fields[at]!;
      const given = value[field.name];
      let read = given;
      if (given !== undefined) {
        known += 1;
        read = field.step(given, fault);
        if (read === FAILED) {
          fault.in(field.name);
          if (field.replaced === undefined) return FAILED;
          fault.lose(field.replaced, -1, given);
          read = field.fallback;
        }
      } else if (field.hasDefault) read = field.default;
      else if (field.isRequired) {
        fault.fail('must be there');
        return fault.in(field.name);
      }
      if (read !== given) copy ??= knownOf(value, fields, at);
      if (copy !== undefined && read !== undefined) copy[field.name] = read;
    }
    let count = 0;
    for (const name in value) if (Object.hasOwn(value, name)) count += 1;
    if (count > maxProperties) return fault.fail(mostRule);
    if (count === known) return copy ?? value;
    return readOthers(value, copy, fault, () => knownOf(value, fields, fields.length));
  };
}

type OthersStep = (
  value: Fields,
  copy: Record<string, unknown> | undefined,
  fault: Fault,
  known: () => Record<string, unknown>,
) => unknown;

/** For an object with fields beyond the known ones. */
function otherFieldsStep(schema: Keywords, names: ReadonlySet<string>): OthersStep {
  const { additionalProperties: others, lossy } = schema;
  if (others === undefined) return (_value, copy, _fault, known) => copy ?? known();
  if (others === true) {
    return (value, copy) => (copy === undefined ? value : { ...value, ...copy });
  }
  const step: Step = others === false ? (_value, fault) => fault.fail('is not known here') : stepOf(others);
  return (value, copy, fault, known) => {
    const entries: [string, unknown][] = [];
    let isSame = copy === undefined;
    for (const name of Object.keys(value)) {
      if (names.has(name) || value[name] === undefined) continue;
      const read = step(value[name], fault);
      if (read === FAILED && lossy !== undefined) {
        fault.lose(lossy, entries.length, value[name], name);
        isSame = false;
        continue;
      }
      if (read === FAILED) return fault.in(name.slice(0, MAX_NAME_CHARS));
      if (read !== value[name]) isSame = false;
      entries.push([name, read]);
    }
    if (isSame) return value;
    return Object.fromEntries([...Object.entries(copy ?? known()), ...entries]);
  };
}

/** The first `end` known fields. */
function knownOf(value: Fields, fields: readonly Field[], end: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let at = 0; at < end; at += 1) {
    const { name } = fields[at]!;
    if (value[name] !== undefined) copy[name] = value[name];
  }
  return copy;
}

function boundWords(least: number, most: number, things: string): string {
  if (most !== Infinity) return ` of ${least === 0 ? 'at most' : `${least} to`} ${most} ${things}`;
  return least === 0 ? '' : ` of at least ${least} ${things}`;
}

function rangeWords(least: number, most: number): string {
  const from = least === -Infinity ? '' : ` from ${least}`;
  return most === Infinity ? from : `${from} to ${most}`;
}

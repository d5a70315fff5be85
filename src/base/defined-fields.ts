type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` without undefined: a key whose value can be undefined is optional. */
export type DefinedFields<T> = Omit<T, OptionalKeys<T>> & {
  [K in OptionalKeys<T>]?: Exclude<T[K], undefined>;
};

/**
 * Returns a copy without the fields that are undefined. It serves objects in which the presence of a key matters: keywords
 * of JSON Schemas, answers that are compared with a schema, environments, and options of packages.
 */
export function definedFields<const T extends object>(fields: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

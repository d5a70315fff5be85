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

/** Returns those fields of an object that the schema of another has, too, in the order of the schema. */
export function fieldsOf<Properties extends object, T extends object>(
  { properties }: { readonly properties: Properties },
  value: T,
): Pick<T, keyof T & keyof Properties> {
  const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(names.map((name) => [name, value[name as keyof T]])) as never;
}

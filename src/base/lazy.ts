/**
 * Returns a function that makes its value at the first call and returns the same one from then on. A promise that rejects is
 * kept, too; after a failure that is thrown, the next call tries again.
 */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

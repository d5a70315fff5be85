/** The version of a resource that a form was filled from. */
export interface ReadVersion {
  readonly etag: string | undefined;
}

/** Whether the resource has changed since a form was filled from it. Undefined: nobody has typed into the form. */
export function isOutdated(held: ReadVersion | undefined, now: string | undefined): boolean {
  if (held === undefined) return false;
  const { etag: then } = held;
  return then !== now;
}

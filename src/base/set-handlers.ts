/**
 * Sets functions of an object that comes and goes. V8 takes a function that is written where it is assigned to a property for
 * long-lived, and allocates it in the old generation, in C++. There it keeps all that it can reach until the next full collection,
 * long after its connection has ended. ADR 0055.
 */
export function setHandlers<Target extends object>(target: Target, handlers: Partial<Target>): void {
  Object.assign(target, handlers);
}

/** Where on its way a request failed: the hops before passed, those after it were not reached. Pure. */

/** Failures at this hop that got an answer: the gateway refused what the client sent. */
const CLIENT = 'client';
/** The way of every request. The control plane is asked beside it, so it is only shown when it failed. */
const WAY = ['client', 'gateway', 'router', 'agent', 'service'] as const;

export interface FailedHop {
  readonly hop: string;
  readonly state: 'works' | 'refused' | 'broken' | 'unknown';
}

/** `status`: of the answer; 0 if there was none. */
export function failedWay(hop: string, status: number): readonly FailedHop[] {
  const way: readonly string[] =
    hop === 'control' ? ['client', 'gateway', 'control', 'router', 'agent', 'service'] : WAY;
  if (hop === CLIENT && status !== 0)
    return way.map((known) => ({
      hop: known,
      state: known === CLIENT ? 'works' : known === 'gateway' ? 'refused' : 'unknown',
    }));
  const at = way.indexOf(hop);
  // A hop of a newer version has no place on the way that is known here.
  if (at < 0)
    return [...way.map((known) => ({ hop: known, state: 'unknown' as const })), { hop, state: 'broken' }];
  return way.map((known, index) => ({
    hop: known,
    state: index < at ? 'works' : index === at ? 'broken' : 'unknown',
  }));
}

/** The hop at which the way of the request ended. */
export function brokenAt(hop: string, status: number): string {
  return hop === CLIENT && status !== 0 ? 'gateway' : hop;
}

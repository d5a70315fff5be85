/** Which events of the activity log changed a resource: no sign-in, no session, no look. Pure. */
import type { AuditEventAnswer } from '#contract/schemas';

const NOT_CHANGES =
  /^(logIn|logOut|consoleLogIn|firstConsoleLogIn|issueToken|refresh|dial|bind|connect|get|list)|[sS]ession/;

type Event = Pick<AuditEventAnswer, 'action' | 'target'>;

export function isResourceChange<E extends Event>(
  event: E,
): event is E & { readonly target: NonNullable<E['target']> } {
  return event.target !== null && !NOT_CHANGES.test(event.action);
}

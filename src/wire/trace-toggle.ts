/** A request to trace channels, or to end it: the applications and channels that it selects, and what its answer lists. */
import { shortPatternOf } from '#base/shapes';
import { ctrlMessages } from './ctrl-messages.ts';
import { TraceToggleVerbosity } from './gen/trace-pb.ts';

export interface TraceToggle {
  readonly isOn: boolean;
  /** Selects controllers and routers by their id. */
  selectsApp(id: string): boolean;
  selectsPipe(name: string): boolean;
  /** Whether the answer has a line about something that matched, or did not. */
  shows(isMatch: boolean): boolean;
}

/** Returns why it is refused, as a text. @throws FrontdoorError `protocol` */
export function traceToggleOf(body: Uint8Array): TraceToggle | string {
  const { enable, verbosity, appRegex, pipeRegex } = ctrlMessages.togglePipeTraces.decode(body);
  const [selectsApp, selectsPipe] = [shortPatternOf(appRegex), shortPatternOf(pipeRegex)];
  if (typeof selectsApp === 'string') return `Failed to parse app id regex: it ${selectsApp}\n`;
  if (typeof selectsPipe === 'string') return `Failed to parse pipe id regex: it ${selectsPipe}\n`;
  const all = verbosity === TraceToggleVerbosity.ReportAll;
  const [matches, misses] = [TraceToggleVerbosity.ReportMatches, TraceToggleVerbosity.ReportMisses];
  const shows = (isMatch: boolean): boolean => all || verbosity === (isMatch ? matches : misses);
  return { isOn: enable, selectsApp, selectsPipe, shows };
}

/** A line of the answer, in the words of OpenZiti. */
export function toggledLine(
  app: string,
  pipe: string,
  { isMatch, was, is }: { readonly isMatch: boolean; readonly was: boolean; readonly is: boolean },
): string {
  return `Link ${app}.${pipe} matched? ${isMatch}. Old trace state: ${was}, New trace state: ${is}\n`;
}

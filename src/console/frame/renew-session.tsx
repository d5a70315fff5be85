/**
 * An ended session keeps what was typed: the person logs in again in a window of its own, and the refused request is sent
 * again. The window reports the log-in to all tabs of the browser.
 */
import { useEffect, useState, type ReactNode } from 'react';
import { useProgram } from '../api/program.tsx';
import { noteSession, onSession } from '../api/session-end.ts';
import { laterDialog } from '../parts/later-page.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

const LogInAgainDialog = laterDialog(
  async () => (await import('./log-in-again-dialog.tsx')).LogInAgainDialog,
);

interface Asked {
  readonly reason: 'ended' | 'too-old';
  readonly done: Promise<void>;
  finish(isDone: boolean): void;
}

export function RenewSession(): ReactNode {
  const text = useText(frameText);
  const { api } = useProgram();
  const [asked, setAsked] = useState<Asked | undefined>();

  useEffect(() => {
    let open: Asked | undefined;
    const ask = (reason: Asked['reason']): Promise<void> => {
      if (open === undefined) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        open = {
          reason,
          done: promise,
          finish: (isDone) => {
            open = undefined;
            setAsked(undefined);
            if (isDone) resolve();
            else reject(new Error(text.ended));
          },
        };
        setAsked(open);
      }
      return open.done;
    };
    api.onSessionEnd(ask);
    return onSession((message) => {
      // No request waits for what the person decides then.
      if (message === 'ended') ask('ended').catch(() => undefined);
      else open?.finish(true);
    });
  }, [api, text]);

  return asked === undefined ? null : (
    <LogInAgainDialog reason={asked.reason} onClose={() => asked.finish(false)} />
  );
}

/** The page on which the window ends: it reports the log-in and closes itself. */
export function LoggedInAgain(): ReactNode {
  const text = useText(frameText);
  useEffect(() => {
    noteSession('began');
    window.close();
  }, []);
  return <main style={{ padding: '2rem' }}>{text.logInAgainDone}</main>;
}

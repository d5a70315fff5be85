/** Notices above every page: the control plane is away, or has another version of the console. */
import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useProgram } from '../api/program.tsx';
import { useIsSessionEnded } from '../api/session-end.ts';
import { useStreamState } from '../api/use-changes.ts';
import { Icon } from '../parts/icon.tsx';
import { useBrowserNow } from '../parts/time-ago.tsx';
import { useFormat, useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

/** A short break is not worth a line. */
const PATIENCE_MS = 5_000;

export function Banners(): ReactNode {
  return (
    <div className="fd-banners">
      <AwayBanner />
      <EndedBanner />
      <NewBuildBanner />
    </div>
  );
}

function AwayBanner(): ReactNode {
  const [text, format, now] = [useText(frameText), useFormat(), useBrowserNow(PATIENCE_MS)];
  const { lostAtMs } = useStreamState();
  const isLong = lostAtMs !== undefined && now - lostAtMs >= PATIENCE_MS;
  return (
    <div role="status" {...(isLong ? { className: 'fd-banner' } : {})}>
      {isLong ? (
        <span className="fd-state fd-warn">
          <Icon name="warning" />
          {text.away(format.time(lostAtMs))}
        </span>
      ) : null}
    </div>
  );
}

/** For someone who has closed the question to log in again. */
function EndedBanner(): ReactNode {
  const text = useText(frameText);
  const isEnded = useIsSessionEnded();
  const { api } = useProgram();
  if (!isEnded) return null;
  const logIn = () => void api.renewEndedSession().catch(() => undefined);
  return (
    <div className="fd-banner" role="status">
      <span className="fd-state fd-warn">
        <Icon name="warning" />
        {text.ended}.
      </span>{' '}
      <Button size="compact-sm" variant="default" onClick={logIn}>
        {text.logIn}
      </Button>
    </div>
  );
}

/** The page reloads with the next change of page, where nothing that was typed is lost. */
function NewBuildBanner(): ReactNode {
  const text = useText(frameText);
  const router = useRouter();
  const [isOld, setOld] = useState(false);
  const { api } = useProgram();
  useEffect(() => api.onNewBuild(() => setOld(true)), [api]);
  useEffect(() => {
    if (!isOld) return undefined;
    return router.subscribe('onBeforeLoad', ({ pathChanged, toLocation }) => {
      if (pathChanged) window.location.assign(toLocation.publicHref);
    });
  }, [isOld, router]);
  if (!isOld) return null;
  return (
    <div className="fd-banner" role="status">
      {text.newBuild}{' '}
      <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>
        {text.reload}
      </Button>
    </div>
  );
}

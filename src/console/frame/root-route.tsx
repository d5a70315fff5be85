/** The root of the pages, and the part of the addresses that names a frontdoor. */
import {
  createRootRoute,
  createRoute,
  Outlet,
  useLocation,
  useRouter,
  type ErrorComponentProps,
} from '@tanstack/react-router';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SessionProvider } from '../api/session.tsx';
import { Waiting } from '../parts/answer-view.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { RenewSession } from './renew-session.tsx';
import { Shell } from './shell.tsx';

/** This page is in a window of its own, which closes. */
const WITHOUT_FRAME = '/logged-in-again';

export const rootRoute = createRootRoute({
  component: RootFrame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
});

export const frontdoorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'frontdoors/$frontdoorId',
  component: Outlet,
});

function RootFrame(): ReactNode {
  const { pathname } = useLocation();
  if (pathname === WITHOUT_FRAME) return <Outlet />;
  return (
    <SessionProvider
      waiting={
        // The frame is there before the first answer.
        <div className="fd-frame">
          <header className="fd-head">
            <span className="fd-brand">Frontdoor</span>
          </header>
          <main className="fd-main">
            <Waiting />
          </main>
          <RenewSession />
        </div>
      }
      failed={(error, again) => <Problem error={error} onAgain={again} />}
    >
      <Shell />
    </SessionProvider>
  );
}

function NotFound(): ReactNode {
  const text = useText(frameText);
  return (
    <>
      <PageTitle title={text.pageNotFound} />
      <Link to="/">{text.toOverview}</Link>
    </>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps): ReactNode {
  const text = useText(frameText);
  const router = useRouter();
  // Its file may not have been loaded.
  const again = () => void router.invalidate().then(reset);
  return (
    <>
      <PageTitle title={text.pageFailed} />
      <Problem error={error as Error} onAgain={again} />
      <Button variant="default" onClick={() => window.location.reload()}>
        {text.reload}
      </Button>
    </>
  );
}

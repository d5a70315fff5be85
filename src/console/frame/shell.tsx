/** The frame around every page: head, navigation, banners, and the content. */
import { ActionIcon, Button, NativeSelect } from '@mantine/core';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import type { Topic } from '../api/change-source.ts';
import { useSession } from '../api/session.tsx';
import { useChanges } from '../api/use-changes.ts';
import { Icon } from '../parts/icon.tsx';
import { laterDialog } from '../parts/later-page.tsx';
import { place } from '../place.ts';
import { useText } from '../text/language.tsx';
import { AccountButton } from './account-button.tsx';
import { Banners } from './banners.tsx';
import { BellButton } from './bell-button.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor, useFrontdoors } from './frontdoor.tsx';
import { useKeys, useTypedAhead } from './keys.ts';
import { LeaveQuestion } from './leave-question.tsx';
import { navigationOf, type NavigationGroup } from './navigation.ts';
import { useNotedPlaces } from './recent-places.ts';
import { RenewSession } from './renew-session.tsx';
import { TourStart, useTourStart } from './tour-start.ts';

const SearchDialog = laterDialog(async () => (await import('./search-dialog.tsx')).SearchDialog);
const LogOut = laterDialog(async () => (await import('./log-out.tsx')).LogOut);
const Tour = laterDialog(async () => (await import('./tour.tsx')).Tour);
const KeysDialog = laterDialog(async () => (await import('./keys-dialog.tsx')).KeysDialog);

type OpenDialog = 'search' | 'keys' | 'log-out';

export function Shell(): ReactNode {
  const text = useText(frameText);
  const session = useSession();
  const frontdoorId = useCurrentFrontdoor();
  const isOfFrontdoor = useParams({ strict: false }).frontdoorId !== undefined;
  useChanges(topicOf(isOfFrontdoor || !session.isOperator, frontdoorId, session.isOperator));
  const [dialog, setDialog] = useState<OpenDialog | undefined>();
  const [typed, setTyped] = useState('');
  const close = () => setDialog(undefined);
  const [isTouring, setTouring] = useState(false);
  const startTour = useCallback(() => setTouring(true), []);
  const { main, isNavOpen, toggleNav } = useContent();
  const open = (next: OpenDialog) => {
    if (next === 'search') setTyped('');
    setDialog(next);
  };
  useKeys({ openSearch: () => open('search'), openKeys: () => open('keys') });
  useTypedAhead(dialog === 'search', setTyped);
  useNotedPlaces();

  return (
    <TourStart value={startTour}>
      <div className="fd-frame">
        <a className="fd-skip" href="#content">
          {text.skip}
        </a>
        <Head frontdoorId={frontdoorId} isNavOpen={isNavOpen} onNav={toggleNav} onDialog={open} />
        <Banners />
        <nav id="navigation" className="fd-nav" aria-label={text.navigation} data-open={isNavOpen}>
          {navigationOf(session, frontdoorId).map((group) => (
            <NavigationSection key={group.title} group={group} />
          ))}
          {place.version === '' ? null : <p className="fd-version">Frontdoor {place.version}</p>}
        </nav>
        <main id="content" ref={main} tabIndex={-1} className="fd-main">
          {isTouring ? <Tour onClose={() => setTouring(false)} /> : null}
          <Outlet />
        </main>
        <RenewSession />
        <LeaveQuestion />
        {dialog === 'search' ? (
          <SearchDialog
            onClose={close}
            actions={{
              openKeys: () => open('keys'),
              openTour: startTour,
              signOut: () => open('log-out'),
            }}
            typed={typed}
            onTyped={setTyped}
          />
        ) : null}
        {dialog === 'keys' ? <KeysDialog onClose={close} /> : null}
        {dialog === 'log-out' ? <LogOut onClose={close} /> : null}
      </div>
    </TourStart>
  );
}

/** The content, and the navigation that may cover it: a new page closes that, and moves the focus to the content. */
function useContent() {
  const main = useRef<HTMLElement>(null);
  const [isNavOpen, setNavOpen] = useState(false);
  const isFirst = useRef(true);
  const { pathname } = useLocation();
  useEffect(() => {
    setNavOpen(false);
    // For those who use the keyboard or listen.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [pathname]);
  return { main, isNavOpen, toggleNav: () => setNavOpen(!isNavOpen) };
}

function Head(props: {
  readonly frontdoorId: string | undefined;
  readonly isNavOpen: boolean;
  readonly onNav: () => void;
  readonly onDialog: (dialog: OpenDialog) => void;
}): ReactNode {
  const text = useText(frameText);
  const { frontdoorId, isNavOpen, onNav, onDialog } = props;
  return (
    <header className="fd-head">
      <ActionIcon
        className="fd-nav-button"
        variant="default"
        aria-label={text.showNavigation}
        aria-expanded={isNavOpen}
        aria-controls="navigation"
        onClick={onNav}
      >
        <Icon name="menu" />
      </ActionIcon>
      <Link to="/" className="fd-brand">
        Frontdoor
      </Link>
      <FrontdoorChoice current={frontdoorId} />
      <div className="fd-head-end">
        <Button
          variant="default"
          size="sm"
          leftSection={<Icon name="search" />}
          onClick={() => onDialog('search')}
        >
          {text.search}
        </Button>
        <BellButton frontdoorId={frontdoorId} />
        <AccountButton
          onKeys={() => onDialog('keys')}
          onTour={useTourStart()}
          onLogOut={() => onDialog('log-out')}
        />
      </div>
    </header>
  );
}

function NavigationSection({ group: { title, entries } }: { readonly group: NavigationGroup }): ReactNode {
  const text = useText(frameText);
  return (
    <div>
      <h2>{text[title]}</h2>
      <ul>
        {entries.map(({ to, label, isExact }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: isExact, includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {text[label]}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function topicOf(followsFrontdoor: boolean, frontdoorId: string | undefined, isOperator: boolean): Topic {
  if (followsFrontdoor && frontdoorId !== undefined) return { frontdoorId };
  return { isInstallation: isOperator };
}

function FrontdoorChoice({ current }: { readonly current: string | undefined }): ReactNode {
  const text = useText(frameText);
  const navigate = useNavigate();
  const all = useFrontdoors().data?.body.content ?? [];
  if (all.length < 2 && all.some(({ id }) => id === current)) return <span>{all[0]?.name}</span>;
  if (all.length === 0) return null;
  const isKnown = all.some(({ id }) => id === current);
  return (
    <NativeSelect
      aria-label={text.frontdoor}
      value={current ?? ''}
      onChange={({ currentTarget }) =>
        void navigate({ to: '/frontdoors/$frontdoorId', params: { frontdoorId: currentTarget.value } })
      }
      data={[
        ...(isKnown || current === undefined ? [] : [{ value: current, label: current }]),
        ...all.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  );
}

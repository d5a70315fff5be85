/**
 * The style page: every component of `parts/` with made-up data, in development only (ADR 0110). It asks no control plane for
 * anything. `npm run console -- --style-page` writes it as one file, which tests open in a browser, too.
 */
import { Button, Group, MantineProvider, Title } from '@mantine/core';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { newProgram, ProgramProvider } from '../api/program.tsx';
import { newQueryClient } from '../api/queries.ts';
import { GivenSession } from '../api/session.tsx';
import { Icon, ICON_NAMES } from '../parts/icon.tsx';
import { Facts, PageTitle, Panel } from '../parts/page-title.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { StateBadge, type Tone } from '../parts/state-badge.tsx';
import { Way } from '../parts/way.tsx';
import '../styles.ts';
import { LanguageProvider } from '../text/language.tsx';
import { cssVariables, theme } from '../theme.ts';
import { FormSamples } from './form-samples.tsx';
import { ListSamples } from './list-samples.tsx';
import { StateSamples } from './state-samples.tsx';

const SIZES = ['xs', 's', 'm', 'l', 'xl'] as const;
const DISTANCES = [1, 2, 3, 4, 5] as const;
const TONES: readonly (readonly [Tone, string])[] = [
  ['good', 'Healthy'],
  ['warn', 'Degraded'],
  ['bad', 'Failing'],
  ['soft', 'Unknown'],
];
const CALLER = {
  kind: 'person' as const,
  id: 'style-page',
  name: 'Ann Example',
  organizationId: '00000000-0000-4000-8000-000000000000',
  scopes: ['frontdoor.read', 'frontdoor.write', 'frontdoor.organization', 'frontdoor.admin'],
};

function StylePage(): ReactNode {
  return (
    <main className="fd-main">
      <PageTitle title="Style page" />
      <Tokens />
      <States />
      <Actions />
      <FormSamples />
      <ListSamples />
      <StateSamples />
    </main>
  );
}

function Tokens(): ReactNode {
  return (
    <Panel title="Type and distance">
      {SIZES.map((size) => (
        <p key={size} style={{ fontSize: `var(--fd-text-${size})`, margin: 0 }}>
          {`--fd-text-${size}: The quick brown fox jumps over the lazy dog. `}
          <span className="fd-mono">app.example.com:8443</span>
        </p>
      ))}
      <Group align="end" mt="md">
        {DISTANCES.map((step) => (
          <div key={step}>
            <div style={{ width: `var(--fd-space-${step})`, height: '1rem', background: 'var(--fd-soft)' }} />
            <span className="fd-small">{`--fd-space-${step}`}</span>
          </div>
        ))}
      </Group>
      <Title order={2}>Title of a panel</Title>
      <Title order={3}>Title inside of a panel</Title>
      <p className="fd-soft">Text that explains, in the softer colour.</p>
    </Panel>
  );
}

function States(): ReactNode {
  return (
    <Panel title="States and signs">
      <Group>
        {TONES.map(([tone, word]) => (
          <StateBadge key={tone} tone={tone}>
            {word}
          </StateBadge>
        ))}
        {TONES.map(([tone, word]) => (
          <span key={tone} className="fd-pill">
            <StateBadge tone={tone}>{word}</StateBadge>
          </span>
        ))}
      </Group>
      <Group mt="md">
        {ICON_NAMES.map((name) => (
          <span key={name} className="fd-state fd-small">
            <Icon name={name} />
            {name}
          </span>
        ))}
      </Group>
      <Group mt="md">
        <Sparkline values={[1, 4, 2, 8, 5, 7, 3]} label="30 requests, 0 errors" />
      </Group>
      <Way
        label="A request"
        hops={[
          { id: 'gateway', name: 'Gateway', state: 'works', stateText: 'Healthy', detail: 'gateway-1' },
          { id: 'agent', name: 'Agent', state: 'broken', stateText: 'Failing' },
          { id: 'service', name: 'Service', state: 'unknown', stateText: 'Unknown' },
        ]}
      />
    </Panel>
  );
}

function Actions(): ReactNode {
  return (
    <Panel title="Actions" actions={<Button size="xs">Main action of a panel</Button>}>
      <Group>
        <Button>Main action</Button>
        <Button variant="default">Other action</Button>
        <Button variant="default" className="fd-danger">
          Dangerous action
        </Button>
        <Button color="red">Confirmed danger</Button>
        <Button disabled>Disabled</Button>
        <Button loading>Pending</Button>
        <Button size="compact-sm" variant="default">
          Action of a row
        </Button>
      </Group>
      <Facts
        facts={[
          ['Name', 'app'],
          ['Address', 'app.example.com'],
        ]}
      />
    </Panel>
  );
}

const router = createRouter({
  routeTree: createRootRoute({ component: StylePage }),
  history: createMemoryHistory(),
});

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <ProgramProvider program={newProgram(newQueryClient())}>
        <LanguageProvider>
          <GivenSession caller={CALLER}>
            <RouterProvider router={router as never} />
          </GivenSession>
        </LanguageProvider>
      </ProgramProvider>
    </MantineProvider>
  </StrictMode>,
);

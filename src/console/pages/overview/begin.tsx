/** The overview of a frontdoor that publishes nothing yet: the next step with its button and its command, and the offer of a tour. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { FrontdoorSummaryAnswer } from '#contract/schemas';
import { useSession } from '../../api/session.tsx';
import { useTourOffer, useTourStart } from '../../frame/tour-start.ts';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import type { FirstCommand } from '../../parts/first-command.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { beginText } from './begin-text.ts';

export function Begin({ summary }: { readonly summary: FrontdoorSummaryAnswer }): ReactNode {
  const text = useText(beginText);
  const { may } = useSession();
  const { frontdoorId, environments, shares } = summary;
  if (shares.total > 0) return null;
  const step: Step = environments.total === 0 ? AGENT : SHARE;
  return (
    <Panel title={text.begin}>
      <p>{text.what(step.kind)}</p>
      {may(step.operation) ? (
        <>
          <LinkButton to={`/frontdoors/$frontdoorId/${step.path}`} params={{ frontdoorId }}>
            {text.button(step.kind)}
          </LinkButton>
          <EmptyCommand kind={step.kind} />
        </>
      ) : (
        <p className="fd-soft">{text.ask}</p>
      )}
      <TourOffer />
    </Panel>
  );
}

interface Step {
  readonly kind: FirstCommand;
  readonly operation: OperationId;
  readonly path: 'agents/new' | 'shares/new';
}

const AGENT: Step = { kind: 'agent', operation: 'createEnrollment', path: 'agents/new' };
const SHARE: Step = { kind: 'share', operation: 'createShare', path: 'shares/new' };

function TourOffer(): ReactNode {
  const text = useText(beginText);
  const start = useTourStart();
  const offer = useTourOffer();
  if (!offer.isOpen) return null;
  return (
    <Group gap="xs" mt="md">
      <span>{text.offer}</span>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          offer.close();
          start();
        }}
      >
        {text.startTour}
      </Button>
      <Button size="xs" variant="subtle" onClick={offer.close}>
        {text.noTour}
      </Button>
    </Group>
  );
}

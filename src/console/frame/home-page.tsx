/** The first page: leads to the overview of a frontdoor, or to the creation of the first one. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { AnswerView } from '../parts/answer-view.tsx';
import { Form } from '../parts/form.tsx';
import { NameField } from '../parts/name-field.tsx';
import { PageTitle, Panel } from '../parts/page-title.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor, useFrontdoors } from './frontdoor.tsx';

export function HomePage(): ReactNode {
  const answer = useFrontdoors();
  const current = useCurrentFrontdoor();
  const navigate = useNavigate();
  useEffect(() => {
    if (current !== undefined)
      void navigate({ to: '/frontdoors/$frontdoorId', params: { frontdoorId: current }, replace: true });
  }, [current, navigate]);
  return <AnswerView answer={answer}>{() => (current === undefined ? <FirstFrontdoor /> : null)}</AnswerView>;
}

function FirstFrontdoor(): ReactNode {
  const text = useText(frameText);
  const { caller, may } = useSession();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const idempotencyKey = useIdempotencyKey();
  const create = useChange('createFrontdoor', {
    refreshes: ['frontdoor'],
    onDone: ({ body }) => void navigate({ to: '/frontdoors/$frontdoorId', params: { frontdoorId: body.id } }),
  });
  return (
    <>
      <PageTitle title={text.noFrontdoor} />
      <Panel>
        <p>{text.noFrontdoorText}</p>
        {may('createFrontdoor') ? (
          <Form
            fields={['name']}
            error={create.error}
            isPending={create.isPending}
            submit={text.createFrontdoor}
            onSubmit={() =>
              create.mutate({ body: { name, organizationId: caller.organizationId }, idempotencyKey })
            }
          >
            <NameField label={text.name} value={name} onChange={setName} />
          </Form>
        ) : (
          <p>{text.askAdministrator}</p>
        )}
      </Panel>
    </>
  );
}

/** One service of the mesh: name, choice among its terminators, deletion. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { FabricServiceAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { StrategyChoice } from './strategy-choice.tsx';

export function ServicePage(): ReactNode {
  const text = useText(meshText);
  const navigate = useNavigate();
  const id = useParam('serviceId');
  const answer = useAnswer('getFabricService', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/mesh/services">{text.services}</Link>}>
            <DeleteButton
              operation="deleteFabricService"
              kind="fabric-service"
              input={{ parameters: { id }, ifMatch: etag }}
              label={text.delete}
              title={text.deleteService}
              typed={body.name}
              onDeleted={() => void navigate({ to: '/mesh/services' })}
            >
              <p>{text.deleteServiceText}</p>
            </DeleteButton>
          </PageTitle>
          <Panel title={text.change}>
            <ChangeService key={etag} service={body} etag={etag} onStale={() => void answer.refetch()} />
          </Panel>
          <Panel>
            <Link to="/mesh/terminators" search={{ serviceId: id }}>
              {text.terminators}
            </Link>
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function ChangeService(props: {
  readonly service: FabricServiceAnswer;
  readonly etag: string | undefined;
  readonly onStale: () => void;
}): ReactNode {
  const text = useText(meshText);
  const { service, etag, onStale } = props;
  const [name, setName] = useState(service.name);
  const [terminatorStrategy, setStrategy] = useState(service.terminatorStrategy);
  const { mutate, error, isPending, reset } = useChange('changeFabricService', {
    refreshes: ['fabric-service'],
  });
  return (
    <Form
      fields={['name']}
      error={error}
      isPending={isPending}
      submit={text.save}
      onStale={() => {
        onStale();
        reset();
      }}
      onSubmit={() =>
        mutate({ parameters: { id: service.id }, body: { name, terminatorStrategy }, ifMatch: etag })
      }
    >
      <NameField label={text.name} value={name} onChange={setName} />
      <StrategyChoice value={terminatorStrategy} onChange={setStrategy} />
    </Form>
  );
}

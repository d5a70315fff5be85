/** Gives a shared policy to several shares: first they are selected, then each is changed. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import type { ShareAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { MAX_CHOICES, PickMany } from '../shares/pick-many.tsx';
import { AssignPolicy, nameOf } from '../shares/share-bulk.tsx';
import { policiesText } from './policies-text.ts';

interface Props {
  readonly policy: Pick<AnswerOf<'getPolicy'>, 'id' | 'name'>;
}

export function AssignToShares({ policy }: Props): ReactNode {
  const text = useText(policiesText);
  const [isPicking, setPicking] = useState(false);
  const [rows, setRows] = useState<readonly ShareAnswer[]>([]);
  if (!useSession().may('changeShare')) return null;
  return (
    <>
      <Button variant="default" onClick={() => setPicking(true)}>
        {text.assign}
      </Button>
      {isPicking ? (
        <PickShares
          policy={policy}
          onClose={() => setPicking(false)}
          onPicked={(picked) => {
            setPicking(false);
            setRows(picked);
          }}
        />
      ) : null}
      {rows.length === 0 ? null : (
        <AssignPolicy policy={policy} rows={rows} onChanged={() => undefined} onClose={() => setRows([])} />
      )}
    </>
  );
}

function PickShares({
  policy,
  onClose,
  onPicked,
}: Props & {
  readonly onClose: () => void;
  readonly onPicked: (shares: readonly ShareAnswer[]) => void;
}): ReactNode {
  const text = useText(policiesText);
  const [filter, setFilter] = useState('');
  const [picked, setPicked] = useState<ReadonlyMap<string, ShareAnswer>>(new Map());
  const answer = useAnswer('listShares', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { name: filter.trim(), size: MAX_CHOICES, sort: 'name,asc' },
  });
  return (
    <Dialog title={text.assignTitle(policy.name)} isOpen onClose={onClose}>
      <Form
        fields={[]}
        error={null}
        isPending={false}
        hasInput={false}
        isDisabled={picked.size === 0}
        submit={text.next}
        onCancel={onClose}
        onSubmit={() => onPicked([...picked.values()])}
      >
        <AnswerView answer={answer}>
          {({ body: { content } }) => {
            const others = content.filter(
              ({ shareMode, policyId }) => shareMode === 'public' && policyId !== policy.id,
            );
            const known = new Map([...picked, ...others.map((share) => [share.token, share] as const)]);
            return (
              <PickMany
                label={text.sharesOf}
                hint={text.assignText}
                field="policyId"
                choices={others.map((share) => ({
                  id: share.token,
                  label: nameOf(share),
                  hint: share.target,
                }))}
                chosen={[...picked.keys()]}
                onChange={(tokens) => setPicked(new Map(tokens.map((token) => [token, known.get(token)!])))}
                filter={filter}
                onFilter={setFilter}
                empty={<p className="fd-soft">{text.noOthers}</p>}
              />
            );
          }}
        </AnswerView>
      </Form>
    </Dialog>
  );
}

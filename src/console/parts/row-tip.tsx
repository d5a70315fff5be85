/**
 * The whole text of what a row shows shortened: of a cell under the pointer, and of all cells of a row in which the focus is. Escape
 * closes it. Screen readers have the whole text in the table, so it is hidden from them.
 */
import { Portal } from '@mantine/core';
import {
  useEffect,
  useRef,
  useState,
  type FocusEvent,
  type PointerEvent,
  type ReactNode,
  type Ref,
} from 'react';

interface Tip {
  readonly left: number;
  readonly top: number;
  readonly isAbove: boolean;
  /** A title, which the cell under the pointer needs not, and the text. */
  readonly lines: readonly (readonly [title: string, text: string])[];
}

const CELL = '.fd-cell';
const CONTROL = 'a[href], button, input';
/** Parts of a cell that are shortened on their own. */
const CLIPPED = 'a, .fd-copy > .fd-mono, .mantine-Button-label';
/** A tip that would be lower stands above its row. */
const ROOM_PX = 160;

/** Around the table: its rows are not drawn again when a tip comes or goes. */
export function RowTips({ children }: { readonly children: ReactNode }): ReactNode {
  const [tip, setTip] = useState<Tip>();
  const list = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  /** The cell that the pointer is on, or was on before it moved onto the tip. */
  const pointed = useRef<HTMLElement>(null);
  const hide = () => setTip(undefined);
  const leave = () => {
    pointed.current = null;
    hide();
  };
  useEffect(() => {
    if (tip === undefined) return undefined;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') hide();
    };
    const onMove = (event: globalThis.PointerEvent) => {
      const isInList = event.target instanceof Node && list.current?.contains(event.target) === true;
      if (pointed.current !== null && !isInList && !isOn(box.current, event)) leave();
    };
    window.addEventListener('keydown', onKey);
    window.addEventListener('pointermove', onMove);
    window.addEventListener('scroll', hide, { capture: true });
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('scroll', hide, { capture: true });
    };
  }, [tip]);
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    const { target, pointerType } = event;
    if (pointerType === 'touch' || !(target instanceof Element)) return;
    const cell = target.closest<HTMLElement>(CELL);
    if (cell !== null && cell === pointed.current) return;
    // The pointer may move onto the tip, which does not keep anyone from a control below it.
    if (isOn(box.current, event) && target.closest(CONTROL) === null) return;
    pointed.current = cell;
    setTip(cell !== null && isShortened(cell) ? tipAt(cell, [['', textOf(cell)]]) : undefined);
  };
  const onPointerLeave = (event: PointerEvent<HTMLElement>) => {
    if (!isOn(box.current, event)) leave();
  };
  const onFocus = ({ target }: FocusEvent<HTMLElement>) => {
    const row = target.closest<HTMLElement>('tbody tr');
    // A press of the pointer shows what is under it.
    if (row === null || !target.matches(':focus-visible')) return;
    const cells = [...row.querySelectorAll<HTMLElement>(CELL)].filter(isShortened);
    const lines = cells.map((cell) => [cell.dataset['title'] ?? '', textOf(cell)] as const);
    setTip(lines.length === 0 ? undefined : tipAt(row, lines));
  };
  return (
    <div
      ref={list}
      className="fd-list"
      onPointerMove={onPointerMove}
      onPointerLeave={onPointerLeave}
      onFocus={onFocus}
      onBlur={hide}
    >
      {children}
      {tip === undefined ? null : <TipBox ref={box} tip={tip} />}
    </div>
  );
}

function TipBox({
  tip: { left, top, isAbove, lines },
  ref,
}: {
  readonly tip: Tip;
  readonly ref: Ref<HTMLDivElement>;
}): ReactNode {
  return (
    <Portal>
      <div
        ref={ref}
        className="fd-tip"
        aria-hidden="true"
        style={{ left, top, ...(isAbove ? { transform: 'translateY(-100%)' } : {}) }}
      >
        {lines.map(([title, text], at) => (
          <div key={at}>
            {title === '' ? null : <strong>{title}: </strong>}
            {text}
          </div>
        ))}
      </div>
    </Portal>
  );
}

function isOn(
  box: HTMLElement | null,
  { clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>,
): boolean {
  if (box === null) return false;
  const { left, right, top, bottom } = box.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

function tipAt(element: HTMLElement, lines: Tip['lines']): Tip {
  const { left, top, bottom } = element.getBoundingClientRect();
  const isAbove = window.innerHeight - bottom < ROOM_PX && top > ROOM_PX;
  return { left: Math.max(0, left), top: isAbove ? top : bottom, isAbove, lines };
}

/** Whether the cell, or a part of it that is shortened on its own, shows less than it has. */
function isShortened(cell: HTMLElement): boolean {
  return [cell, ...cell.querySelectorAll(CLIPPED)].some(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  );
}

/** An address that is shown without its scheme is whole here. */
function textOf(cell: HTMLElement): string {
  const whole = cell.querySelector<HTMLElement>('[data-whole]')?.dataset['whole'];
  return whole ?? cell.innerText;
}

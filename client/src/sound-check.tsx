// The sound check: which microphone, whether it is heard, and how the connection does, in plain words.
import { useEffect, useRef, useState } from 'preact/hooks';
import { chooseTalkKey, family, nameOf, state, talkKey, voice } from './actions.ts';
import { clockAheadMs } from './api.ts';
import { isBluetooth } from './browser.ts';
import { span } from './clock.ts';
import { chosenMicrophone, named, rememberMicrophone, type Device } from './devices.ts';
import { ConnectionCheck } from './connection-check.tsx';
import { voiceProblemText } from './errors.ts';
import { Icon } from './icons.tsx';
import { chosenLoudspeaker, loudspeakers, rememberLoudspeaker } from './loudspeakers.ts';
import { Dialog, Segments } from './parts.tsx';
import { MicrophoneProbe } from './probe.ts';
import type { Quality } from './quality.ts';
import { S } from './strings.ts';
import type { TalkKey } from './talk-key.ts';

const EVERY_MS = 200;
const QUIET_AFTER_MS = 4_000;
const HEARD_LEVEL = 0.02;
const UNKNOWN: Quality = { level: null, relayed: null, rttMs: null, lossPercent: null };
const HAS_KEYS = matchMedia('(hover: hover) and (pointer: fine)');

const TALK_KEYS: readonly TalkKey[] = ['space', 'modifier'];

/** Only where there is a keyboard to hold. */
function TalkKeyChoice() {
  if (!HAS_KEYS.matches) return null;
  return (
    <section class="check">
      <h3>{S.talkKey}</h3>
      <p class="hint">{S.talkKeyNote}</p>
      <Segments legend={S.talkKey} quiet value={talkKey.value} onChoose={chooseTalkKey} options={TALK_KEYS.map((key) => [key, nameOf(key)] as const)} />
    </section>
  );
}

/** Nothing where there is nothing to choose. */
function Choice({ label, standard, numbered, list, chosen, onChoose }: {
  label: string; standard: string; numbered: (n: number) => string; list: readonly Device[]; chosen: string; onChoose: (id: string) => void;
}) {
  if (list.length < 2) return null;
  return (
    <select aria-label={label} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="" selected={chosen === ''}>{standard}</option>
      {list.map(({ id, label: name }, i) => <option key={id} value={id} selected={id === chosen}>{name || numbered(i + 1)}</option>)}
    </select>
  );
}

function Check() {
  const probe = useRef<MicrophoneProbe | null>(null);
  const openedAt = useRef(0);
  const [list, setList] = useState<Device[]>([]);
  const [outputs, setOutputs] = useState<Device[]>([]);
  const [problem, setProblem] = useState('');
  const [quality, setQuality] = useState(UNKNOWN);
  const [heard, setHeard] = useState(false);
  const inCall = voice().running;
  const track = inCall ? voice().microphone : probe.current?.track ?? null;

  const look = async (): Promise<void> => {
    setList(await named('audioinput'));
    setOutputs(await loudspeakers());
  };
  const open = async (): Promise<void> => {
    setProblem('');
    setHeard(false);
    openedAt.current = Date.now();
    try {
      if (voice().running) {
        await voice().changeMicrophone();
        if (!voice().running) setProblem(state.value.voice.problem ?? '');
      } else {
        probe.current?.stop();
        probe.current = new MicrophoneProbe();
        await probe.current.start();
      }
      await look();
    } catch (failure) {
      if (!(failure instanceof DOMException)) throw failure;
      setProblem(failure.name);
    }
  };
  const choose = (id: string): void => {
    rememberMicrophone(id);
    void open();
  };
  useEffect(() => {
    let ended = false;
    openedAt.current = Date.now();
    if (navigator.mediaDevices === undefined) setProblem('insecure');
    else if (inCall) void look();
    const timer = setInterval(async () => {
      const now = await voice().quality() ?? { ...UNKNOWN, level: await probe.current?.level() ?? null };
      if (ended) return;
      setQuality(now);
      if ((now.level ?? 0) > HEARD_LEVEL) setHeard(true);
    }, EVERY_MS);
    return () => { ended = true; clearInterval(timer); probe.current?.stop(); };
  }, []);

  const listening = track !== null && problem === '';
  const settings = track?.getSettings();
  const result = heard ? S.checkHeard
    : quality.level === null && Date.now() - openedAt.current > QUIET_AFTER_MS ? S.checkNoLevel
    : Date.now() - openedAt.current > QUIET_AFTER_MS ? S.checkQuiet : S.checkSpeak;
  return (
    <>
      {family === 'in-app' && <p class="note"><Icon name="info" />{S.inApp}</p>}
      <section class="check">
        <h3>{S.microphone}</h3>
        <Choice label={S.microphone} standard={S.standardMicrophone} numbered={S.microphoneNumber} list={list} chosen={chosenMicrophone()} onChoose={choose} />
        {listening && <meter class="level" min={0} max={1} value={Math.min(1, Math.sqrt(quality.level ?? 0))} aria-hidden="true" />}
        {listening && <p role="status">{result}</p>}
        {problem !== '' && <p class="problem" role="alert">{voiceProblemText(problem, family)}</p>}
        {!listening && problem === '' && <p>{S.checkMicBlocked}</p>}
        {!listening && problem !== 'insecure' && <button type="button" class="button small" onClick={() => void open()}>{S.checkStart}</button>}
        {listening && <p class="hint">{settings?.echoCancellation === false ? S.checkEchoOff : S.checkEchoOn}</p>}
        {listening && family.startsWith('ios') && <p class="hint">{S.checkVolume}</p>}
        {listening && isBluetooth(track.label) && <p class="hint">{S.checkBluetooth}</p>}
      </section>
      {outputs.length > 1 && (
        <section class="check">
          <h3>{S.loudspeaker}</h3>
          <Choice label={S.loudspeaker} standard={S.standardLoudspeaker} numbered={S.loudspeakerNumber} list={outputs} chosen={chosenLoudspeaker()}
            onChoose={(id) => { rememberLoudspeaker(id); voice().reroute(); }} />
        </section>
      )}
      <ConnectionCheck quality={quality} />
      <TalkKeyChoice />
      {clockAheadMs !== null && <p class="note"><Icon name="info" />{S.clockWrong(span(clockAheadMs).count, span(clockAheadMs).unit, clockAheadMs > 0)}</p>}
    </>
  );
}

export const SoundCheck = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog title={S.soundCheckTitle} open={open} onClose={onClose} reading>
    <Check />
    <div class="actions"><button type="button" class="button quiet" onClick={onClose}>{S.close}</button></div>
  </Dialog>
);

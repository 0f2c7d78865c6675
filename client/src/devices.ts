// Microphones: which there are and which one is wanted. Without a choice no device is named, because headsets
// come and go; a chosen one is only preferred, so that its absence never stops a lesson.
const KEY = 'pidjin.microphone';

export type Device = { id: string; label: string };

export const chosenMicrophone = (): string => localStorage.getItem(KEY) ?? '';

export function rememberMicrophone(id: string): void {
  if (id === '') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
}

export const wanted = (basis: MediaTrackConstraints): MediaTrackConstraints => {
  const id = chosenMicrophone();
  return id === '' ? basis : { ...basis, deviceId: { ideal: id } };
};

/** Resolves when the learner allows the microphone in the browser's settings; never where the browser does not tell. */
export async function whenAllowed(): Promise<void> {
  const status = await navigator.permissions?.query({ name: 'microphone' as PermissionName }).catch(() => null);
  await new Promise<void>((resolve) => status?.addEventListener('change', () => { if (status.state === 'granted') resolve(); }));
}

/** Devices of one kind; without permission browsers name none, and the list is empty. */
export async function named(wantedKind: MediaDeviceKind): Promise<Device[]> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.filter(({ kind, deviceId }) => kind === wantedKind && deviceId !== '' && deviceId !== 'default' && deviceId !== 'communications')
    .map(({ deviceId, label }) => ({ id: deviceId, label }));
}

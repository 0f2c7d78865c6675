// The stock client as published, on a page that does nothing but keep what it reports.
// Its own media manager without a vendor's cloud is used; the other one loads code from there.
import { PipecatClient, RTVIEvent } from '@pipecat-ai/client-js';
import { SmallWebRTCTransport, WavMediaManager } from '@pipecat-ai/small-webrtc-transport';

const transport = new SmallWebRTCTransport({ mediaManager: new WavMediaManager() });
const client = new PipecatClient({ transport, enableMic: true, enableCam: false });
const speaker = document.querySelector('audio');
const happened = [];

for (const name of new Set(Object.values(RTVIEvent))) {
  client.on(name, (data, participant) => {
    if (data instanceof MediaStreamTrack) {
      const local = Boolean(participant?.local);
      if (name === RTVIEvent.TrackStarted && !local) {
        speaker.srcObject = new MediaStream([data]);
        speaker.play();
      }
      happened.push([name, { kind: data.kind, local }]);
    } else if (name !== RTVIEvent.LocalAudioLevel) {
      happened.push([name, data ?? null]);
    }
  });
}

window.stock = {
  happened,
  connect: (token, sessionId, topicId) =>
    client.connect({
      webrtcRequestParams: {
        endpoint: '/api/offer',
        headers: new Headers({ Authorization: `Bearer ${token}` }),
        requestData: { sessionId, topicId },
      },
    }),
  type: (text) => client.sendText(text),
  mic: (on) => client.enableMic(on),
  hangUp: () => client.disconnect(),
  dismiss: () => client.disconnectBot(),
  state: () => client.state,
};

/** Draws at once. What changes before the next frame is drawn with it, however much it is. */
export function oncePerFrame(draw: () => void): () => void {
  let isWaiting = false;
  let hasChanged = false;
  const onChange = () => {
    hasChanged = isWaiting;
    if (isWaiting) return;
    isWaiting = true;
    draw();
    requestAnimationFrame(() => {
      isWaiting = false;
      if (hasChanged) onChange();
    });
  };
  return onChange;
}

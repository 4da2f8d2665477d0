"""What a user can do: one public function a file, typed in and out, no printing."""

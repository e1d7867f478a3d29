(** Whole orders: the curve of any mechanism as a finite sum that Coq can compute. *)

From Coq Require Import Reals Lra Lia List ZArith.
From Symacct Require Import FiniteLaws Published.
Import ListNotations.
Open Scope R_scope.

(** * Pascal's triangle in whole numbers *)

Fixpoint step (before : Z) (row : list Z) : list Z :=
  match row with
  | [] => [before]
  | c :: rest => (before + c)%Z :: step c rest
  end.

Fixpoint pascal_row (n : nat) : list Z :=
  match n with
  | O => [1%Z]
  | S m => step 0 (pascal_row m)
  end.

Lemma nth_step row before k :
  nth k (step before row) 0%Z = (nth k (before :: row) 0 + nth k row 0)%Z.
Proof.
  revert before k. induction row as [|c rest IH]; intros before [|k]; simpl.
  - ring.
  - destruct k; reflexivity.
  - reflexivity.
  - rewrite IH. destruct k; reflexivity.
Qed.

Lemma length_step row before : length (step before row) = S (length row).
Proof. revert before. induction row; intro; simpl; [reflexivity | now rewrite IHrow]. Qed.

Lemma length_row n : length (pascal_row n) = S n.
Proof. induction n; simpl; [reflexivity | now rewrite length_step, IHn]. Qed.

Lemma C_first n : C n 0 = 1.
Proof. unfold C. rewrite Nat.sub_0_r. simpl. field. apply INR_fact_neq_0. Qed.

Lemma C_last n : C n n = 1.
Proof. unfold C. rewrite Nat.sub_diag. simpl. field. apply INR_fact_neq_0. Qed.

Theorem row_is_binomial n k : (k <= n)%nat -> IZR (nth k (pascal_row n) 0%Z) = C n k.
Proof.
  revert k. induction n as [|n IH]; intros k H.
  - replace k with O by lia. rewrite C_first. reflexivity.
  - simpl pascal_row. rewrite nth_step, plus_IZR. destruct k as [|k]; simpl nth at 1.
    + rewrite IH, !C_first by lia. ring.
    + destruct (Nat.eq_dec k n) as [->|N].
      * rewrite (nth_overflow (pascal_row n) (n := S n)) by (rewrite length_row; lia).
        rewrite IH, !C_last by lia. ring.
      * rewrite !IH by lia. apply pascal. lia.
Qed.

(** f c_0 0 + f c_1 1 + … over the entries of a row. *)
Fixpoint weigh (row : list Z) (k : nat) (f : Z -> nat -> R) : R :=
  match row with
  | [] => 0
  | c :: rest => f c k + weigh rest (S k) f
  end.

Lemma weigh_is_sum n row k f : length row = S n ->
  weigh row k f = sum_f_R0 (fun j => f (nth j row 0%Z) (k + j)%nat) n.
Proof.
  revert row k. induction n as [|n IH]; intros [|c rest] k L; try discriminate; injection L as L.
  - destruct rest; [|discriminate]. simpl. rewrite Nat.add_0_r. ring.
  - rewrite decomp_sum by lia. simpl pred. change (weigh (c :: rest) k f)
      with (f c k + weigh rest (S k) f). rewrite (IH _ _ L), Nat.add_0_r. f_equal.
    apply sum_eq. intros j _. simpl nth. f_equal. lia.
Qed.

(** [sampled_moment] with its binomials computed. *)
Definition computed_moment (n : nat) (gamma : R) (curve : nat -> R) : R :=
  weigh (pascal_row n) 0
    (fun c k => IZR c * gamma ^ k * (1 - gamma) ^ (n - k) * moment_at curve k).

Theorem computed_is_sampled n gamma curve :
  computed_moment n gamma curve = sampled_moment n gamma curve.
Proof.
  unfold computed_moment, sampled_moment. rewrite (weigh_is_sum n) by apply length_row.
  apply sum_eq. intros k H. rewrite row_is_binomial by lia. reflexivity.
Qed.

(** * Finite laws, of which nothing is assumed *)

Lemma moment_at_zero {A} (d : pair A) : moment d (INR 0) = 1.
Proof.
  rewrite <- (second_mass d). unfold moment. apply total_ext. intro x.
  rewrite Rpower_O; [ring|]. apply Rdiv_lt_0_compat; [apply first_positive | apply second_positive].
Qed.

Lemma moment_at_one {A} (d : pair A) : moment d (INR 1) = 1.
Proof.
  rewrite <- (first_mass d). unfold moment. apply total_ext. intro x.
  pose proof (first_positive d x). pose proof (second_positive d x).
  rewrite Rpower_1; [field; lra | now apply Rdiv_lt_0_compat].
Qed.

(** A record added to a Poisson sample costs at most what S22 says, where laws are finite. *)
Theorem sample_below {A} (d : pair A) gamma (rate : 0 <= gamma <= 1) n curve :
  (forall k, (2 <= k <= n)%nat -> renyi d (INR k) <= curve k) ->
  moment (sample gamma rate d) (INR n) <= sampled_moment n gamma curve.
Proof.
  intro H. rewrite moment_sample. unfold sampled_moment. apply sum_Rle. intros k K.
  apply Rmult_le_compat_l.
  - assert (P : 0 < C n k).
    { apply Rdiv_lt_0_compat; [|apply Rmult_lt_0_compat]; apply INR_fact_lt_0. }
    apply Rmult_le_pos; [apply Rmult_le_pos|]; [lra | apply pow_le; lra | apply pow_le; lra].
  - destruct k as [|[|k]].
    + rewrite moment_at_zero. simpl. lra.
    + rewrite moment_at_one. simpl. lra.
    + replace (moment_at curve (S (S k)))
        with (exp ((INR (S (S k)) - 1) * curve (S (S k))))
        by (unfold moment_at; now rewrite INR_IZR_INZ).
      apply moment_of_renyi; [apply (lt_INR 1); lia | apply H; lia].
Qed.

(** * Any mechanism at a whole order *)

Fixpoint whole (m : mechanism) (n : nat) : R :=
  match m with
  | Gaussian sigma sensitivity => gaussian sigma sensitivity (IZR (Z.of_nat n))
  | Laplace b sensitivity => laplace b sensitivity (IZR (Z.of_nat n))
  | RandomizedResponse p => responding p (IZR (Z.of_nat n))
  | PureDP epsilon => pure epsilon (IZR (Z.of_nat n))
  | ZCDP rho xi => concentrated rho xi (IZR (Z.of_nat n))
  | PoissonSubsample m gamma => ln (computed_moment n gamma (whole m)) / (IZR (Z.of_nat n) - 1)
  | Compose m1 m2 => whole m1 n + whole m2 n
  | Times k m => IZR (Zpos k) * whole m n
  end.

Section Whole.
Variable rdp dp : mechanism -> R -> R -> Prop.
Hypothesis papers : published rdp dp.

Theorem whole_is_rdp m n : valid m -> (2 <= n)%nat -> rdp m (IZR (Z.of_nat n)) (whole m n).
Proof.
  revert n. induction m as [s d|b d|p|e|rho xi|m IH gamma|m1 IH1 m2 IH2|k m IH];
    simpl; intros n V N;
    assert (A : 1 < IZR (Z.of_nat n)) by (rewrite <- INR_IZR_INZ; apply (lt_INR 1); lia).
  - now apply (MIR17_gaussian _ _ papers).
  - now apply (MIR17_laplace _ _ papers).
  - now apply (MIR17_response _ _ papers).
  - now apply (KOV15_pure _ _ papers).
  - now apply (BS16_concentrated _ _ papers).
  - rewrite computed_is_sampled. apply (S22_poisson _ _ papers); [tauto | exact N |].
    intros k K. apply IH; [tauto | lia].
  - apply (MIR17_compose _ _ papers); [exact A | apply IH1 | apply IH2]; tauto.
  - apply (MIR17_times _ _ papers); [exact A | now apply IH].
Qed.

Theorem whole_improved m n epsilon delta :
  valid m -> (2 <= n)%nat -> 0 < delta ->
  whole m n + improved (IZR (Z.of_nat n)) delta <= epsilon -> dp m epsilon delta.
Proof.
  intros V N D H. apply (CKS20_improved _ _ papers m (IZR (Z.of_nat n)) (whole m n)); try assumption.
  - rewrite <- INR_IZR_INZ. apply (lt_INR 1). lia.
  - now apply whole_is_rdp.
Qed.

Theorem whole_classic m n epsilon delta :
  valid m -> (2 <= n)%nat -> 0 < delta ->
  whole m n + classic (IZR (Z.of_nat n)) delta <= epsilon -> dp m epsilon delta.
Proof.
  intros V N D H. apply (MIR17_classic _ _ papers m (IZR (Z.of_nat n)) (whole m n)); try assumption.
  - rewrite <- INR_IZR_INZ. apply (lt_INR 1). lia.
  - now apply whole_is_rdp.
Qed.
End Whole.
